// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "twinkle/data/metrics.hpp"
#include "twinkle/data/weights.hpp"

namespace twinkle {

class context;

/// Grades weights on held-out prompts, greedily.
class torch_evaluator {
 public:
  struct options {
    std::string data = {};  ///< JSONL with "prompt" and "answer"
    std::size_t new_tokens_max = 6;
  };

  explicit torch_evaluator(const options& how);
  ~torch_evaluator();
  torch_evaluator(torch_evaluator&&) noexcept;

  /// greedy_accuracy: the part of the prompts whose completion is the answer.
  [[nodiscard]] metrics grade(context& ctx, const weights& newest);

 private:
  struct state;
  options how_;
  std::unique_ptr<state> state_;
};

}  // namespace twinkle
