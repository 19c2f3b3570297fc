// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "twinkle/flow/seams.hpp"

namespace twinkle::sim {

/// Lets another choose and keeps what it chose, for replay_chooser.
class recording_chooser final : public chooser_seam {
 public:
  explicit recording_chooser(chooser_seam& by) : by_(by) {}

  [[nodiscard]] std::size_t choose(std::size_t count) override {
    const std::size_t choice = by_.choose(count);
    if (count > 1)
      choices_.push_back(choice);
    return choice;
  }

  [[nodiscard]] const std::vector<std::size_t>& choices() const { return choices_; }

 private:
  chooser_seam& by_;
  std::vector<std::size_t> choices_;
};

}  // namespace twinkle::sim
