// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "twinkle/data/batch.hpp"
#include "twinkle/data/metrics.hpp"
#include "twinkle/data/weights.hpp"

namespace twinkle {

class context;

/// Trains a small transformer with GRPO (arXiv:2402.03300, without the KL term), on the CPU. Data ranks (dp, fsdp) hold
/// replicas: their gradients are added in rank order, so that the replicas stay equal, bit for bit.
class torch_model {
 public:
  struct options {
    std::string supervised_data = {};    ///< JSONL with "prompt" and "answer", for a warm start; empty: none
    std::size_t supervised_steps = 25;
    double learning_rate = 5e-4;
  };

  /// Blocks while it starts warm, together with its peers.
  torch_model(context& ctx, const options& how);
  ~torch_model();
  torch_model(torch_model&&) noexcept;

  /// Rows with "prompt", "tokens", "log_probs", "advantage" and "reward" -> reward_mean, and by token loss, entropy and
  /// log_prob_difference (between sampler and trainer: about 0 unless rows are stale). One step of AdamW.
  [[nodiscard]] metrics train(context& ctx, const batch& rows);

  /// A copy of the parameters under Hugging Face's names, from data rank 0; the replicas return none.
  [[nodiscard]] weights state(context& ctx);

  /// What a resumed run needs, from data rank 0: the parameters, both moments of the optimiser and its steps.
  [[nodiscard]] weights save(context& ctx);
  /// The same, to every rank. Throws `error` naming the tensor that is missing or does not fit.
  void restore(context& ctx, const weights& saved);

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace twinkle
