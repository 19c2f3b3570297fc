// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "twinkle/flow/seams.hpp"

namespace twinkle::sim {

/// Chooses what it is told to, and 0 past the end of that. A choice of one is none, and uses up nothing; where there is
/// less to choose from than there was, it chooses the last.
class replay_chooser final : public chooser_seam {
 public:
  explicit replay_chooser(std::vector<std::size_t> choices) : choices_(std::move(choices)) {}

  [[nodiscard]] std::size_t choose(std::size_t count) override {
    if (count == 1 || next_ == choices_.size())
      return 0;
    return std::min(choices_[next_++], count - 1);
  }

 private:
  std::vector<std::size_t> choices_;
  std::size_t next_ = 0;
};

}  // namespace twinkle::sim
