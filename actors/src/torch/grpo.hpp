// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "adamw.hpp"
#include "policy.hpp"
#include "twinkle/base/random.hpp"

namespace twinkle::torch_policy {

// A training step, in three parts so that data ranks can meet in the middle:
//
//   add_grpo_gradient(policy, rows of this rank, tokens of all ranks)   any number of times, or with no rows
//   all-reduce (sum) policy.gradient() and the sums                      by the caller
//   optimiser.step(policy.values(), policy.gradient())                   the same on every rank

struct grpo_row {
  sequence tokens;
  std::span<const float> old_log_probs;  // of the completion's tokens, when it was sampled
  float advantage = 0;
  float weight = 1;  // 0: padding, which counts nowhere
};

/// Sums over completion tokens, times their row's weight; they may be added over ranks and divided by `tokens`.
struct loss_sums {
  double loss = 0;
  double entropy = 0;
  double tokens = 0;
  double clipped = 0;              // tokens whose gradient the clip removes
  double log_prob_difference = 0;  // |new - old|: 0 up to rounding at staleness 0, else look for a broken sampler

  loss_sums& operator+=(const loss_sums& other);
};

/// Adds the gradient of sum(-min(ratio A, clip(ratio, 1 - clip, 1 + clip) A)) / tokens_total to policy.gradient().
/// `tokens_total` is the weighted number of completion tokens over all ranks and micro-batches of the step.
loss_sums add_grpo_gradient(policy& target, std::span<const grpo_row> rows, double tokens_total, double clip = 0.2);

/// The same for the cross entropy of completions, for a supervised start.
loss_sums add_supervised_gradient(policy& target, std::span<const sequence> rows, double tokens_total);

/// Indices 0..rows-1 in a new order each epoch, for ever; the same for equal seeds.
class shuffled_rows {
 public:
  shuffled_rows(std::uint64_t seed, std::size_t rows);
  std::vector<std::size_t> next(std::size_t count);

 private:
  generator random_;
  std::size_t rows_;
  std::vector<std::size_t> order_;  // what is left of this epoch, the next one last
};

struct supervised_options {
  std::uint64_t seed = 0;
  std::size_t steps = 25;
  std::size_t rows_per_step = 128;
  adamw_options optimiser{.learning_rate = 3e-3, .warm_up_steps = 0};
};

/// How a supervised start is spread over data ranks; both empty: over none.
struct data_parallel {
  struct part {
    std::size_t begin, end;
  };
  std::function<part(std::size_t rows)> slice;       // this rank's part of a step's rows
  std::function<void(std::span<float>)> all_reduce;  // sums over data ranks, in place
};

/// Returns the mean loss per token of the last step, over this rank's rows.
double supervised_start(policy& target, std::span<const sequence> dataset, const supervised_options& options = {},
                        const data_parallel& ranks = {});

}  // namespace twinkle::torch_policy
