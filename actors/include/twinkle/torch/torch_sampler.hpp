// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "twinkle/data/batch.hpp"
#include "twinkle/data/weights.hpp"

namespace twinkle {

class context;

/// Samples completions from a small transformer, on the CPU.
class torch_sampler {
 public:
  struct options {
    std::size_t samples_per_prompt = 8;
    std::size_t new_tokens_max = 6;
    double temperature = 1;  ///< 0: the likeliest token
  };

  explicit torch_sampler(const options& how);
  ~torch_sampler();
  torch_sampler(torch_sampler&&) noexcept;

  /// Rows with "prompt" -> samples_per_prompt children of each, with "completion", "tokens" and "log_probs" beside the
  /// columns of the prompt. What a row draws is keyed by its identity. A completion that was cut off before its end
  /// mark ends in "…", so that it is no answer.
  [[nodiscard]] batch sample(context& ctx, const batch& prompts);

  /// Throws `error` where the tensors are not those of the policy.
  void load(context& ctx, const weights& newest);

 private:
  struct state;
  options how_;
  std::unique_ptr<state> state_;
};

}  // namespace twinkle
