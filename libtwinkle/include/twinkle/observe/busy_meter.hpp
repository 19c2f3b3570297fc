// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "twinkle/base/time.hpp"

namespace twinkle {

/// For each stage, the time in which at least one of its bodies ran, and the time in which no body ran at all. A body
/// that is blocked in a call of `context` does not run.
class busy_meter {
 public:
  explicit busy_meter(std::size_t stages) : stages_(stages) {}

  void begin(std::size_t stage, time_point now);
  void end(std::size_t stage, time_point now);

  struct reading {
    std::vector<duration> busy;  ///< by stage
    duration idle{};             ///< no body ran
    duration whole{};            ///< since the last reading
  };
  /// What passed since the last reading.
  [[nodiscard]] reading read(time_point now);

 private:
  struct counter {
    std::size_t running = 0;
    time_point since{};
    duration busy{};
  };

  static void settle(counter& of, time_point now);

  std::vector<counter> stages_;
  counter any_;
  time_point last_{};
};

}  // namespace twinkle
