// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "twinkle/base/time.hpp"

namespace twinkle {

/// For each stage, the time in which at least one of its bodies ran, and the time in which no body ran at all. A body
/// that is blocked in a call of `context` does not run. Bodies on many threads may report at once, without a lock. Those
/// of other processes say how long they ran when they have ended; what runs there and here at once is counted twice.
class busy_meter {
 public:
  explicit busy_meter(std::size_t stages) : stages_(stages) {}

  void begin(std::size_t stage, time_point now);
  void end(std::size_t stage, time_point now);
  /// A body that ran where it is not metered has ended, and was not blocked for as long as it `ran`.
  void ended_elsewhere(std::size_t stage, duration ran, time_point now);

  struct reading {
    std::vector<duration> busy;  ///< by stage
    duration idle{};             ///< no body ran
    duration whole{};            ///< since the last reading
  };
  /// What passed since the last reading; by one reader at a time.
  [[nodiscard]] reading read(time_point now);

 private:
  // How many run, and since when at least one does, in one word, so that both change together.
  class counter {
   public:
    void begin(time_point now);
    void end(time_point now);
    void ended_elsewhere(duration ran, time_point now);
    [[nodiscard]] duration take(time_point now);

   private:
    std::atomic<std::uint64_t> running_{0};
    std::atomic<std::int64_t> busy_{0};
    std::mutex mutex_;
    std::vector<std::pair<time_point, time_point>> elsewhere_;  // when bodies ran there, since `last_`, by time
    time_point last_{};
  };

  std::vector<counter> stages_;
  counter any_;
  time_point last_{};
};

}  // namespace twinkle
