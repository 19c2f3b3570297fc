// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "twinkle/flow/seams.hpp"

namespace twinkle::sim {

/// Chooses every sequence of choices in turn, depth first, for small cases:
///
///     exhaustive_chooser chooser{10};
///     do
///       (void)simulate(pipeline, {.chooser = &chooser});
///     while (chooser.next());
///
/// Only the first `bound` choices of a sequence vary; behind them it chooses 0. A choice of one is none, and does not
/// count. What it chooses for must be deterministic.
class exhaustive_chooser final : public chooser_seam {
 public:
  explicit exhaustive_chooser(std::size_t bound) : bound_(bound) {}

  [[nodiscard]] std::size_t choose(std::size_t count) override;

  /// Goes on to the next sequence; false if there is none.
  [[nodiscard]] bool next();

  /// Sequences so far, this one included.
  [[nodiscard]] std::size_t sequences() const { return sequences_; }
  /// Some sequence had more choices than the bound: not all of them were tried.
  [[nodiscard]] bool cut_off() const { return cut_off_; }

 private:
  struct choice {
    std::size_t chosen = 0;
    std::size_t count = 0;
  };

  std::size_t bound_;
  std::vector<choice> path_;
  std::size_t depth_ = 0;
  std::size_t sequences_ = 1;
  bool cut_off_ = false;
};

}  // namespace twinkle::sim
