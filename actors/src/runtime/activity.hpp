// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include "twinkle/observe/busy_meter.hpp"

namespace twinkle::runtime {

/// The busy meter of a process, for bodies on many threads.
class activity {
 public:
  explicit activity(std::size_t stages) : meter_(stages) {}

  void begin(std::size_t stage, time_point now) {
    const std::lock_guard lock(mutex_);
    meter_.begin(stage, now);
  }
  void end(std::size_t stage, time_point now) {
    const std::lock_guard lock(mutex_);
    meter_.end(stage, now);
  }
  [[nodiscard]] busy_meter::reading read(time_point now) {
    const std::lock_guard lock(mutex_);
    return meter_.read(now);
  }

 private:
  std::mutex mutex_;
  busy_meter meter_;
};

}  // namespace twinkle::runtime
