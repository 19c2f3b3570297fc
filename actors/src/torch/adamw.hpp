// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace twinkle::torch_policy {

struct adamw_options {
  double learning_rate = 5e-4;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double gradient_norm_max = 1;
  std::uint64_t warm_up_steps = 20;  // the rate rises linearly over these
};

/// AdamW behind a clip of the gradient's global norm. Ranks that step with equal gradients stay equal, bit for bit.
class adamw {
 public:
  /// All that a resumed run needs.
  struct state {
    std::uint64_t steps = 0;
    std::vector<float> first_moments, second_moments;
  };

  explicit adamw(std::size_t values, const adamw_options& options = {});

  /// Moves the values, sets the gradient to zero, and returns the norm it had before the clip.
  /// Throws std::runtime_error, and changes nothing, if that is not finite.
  double step(std::span<float> values, std::span<float> gradient);

  const state& current() const { return state_; }
  void restore(state saved);

 private:
  adamw_options options_;
  state state_;
};

}  // namespace twinkle::torch_policy
