// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "twinkle/base/time.hpp"

namespace twinkle::runtime {

/// Time since it was made, never going back.
class real_clock {
 public:
  [[nodiscard]] time_point now() const {
    return std::chrono::duration_cast<time_point>(std::chrono::steady_clock::now() - start_);
  }
  [[nodiscard]] std::chrono::steady_clock::time_point at(time_point when) const { return start_ + when; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace twinkle::runtime
