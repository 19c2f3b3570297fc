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
    const auto lock = hold();
    meter_.begin(stage, now);
  }
  void end(std::size_t stage, time_point now) {
    const auto lock = hold();
    meter_.end(stage, now);
  }
  [[nodiscard]] busy_meter::reading read(time_point now) {
    const auto lock = hold();
    return meter_.read(now);
  }

 private:
  // It is held for some tens of nanoseconds: to try again is cheaper than to sleep and be woken.
  [[nodiscard]] std::unique_lock<std::mutex> hold() {
    std::unique_lock lock(mutex_, std::try_to_lock);
    for (int again = 0; again < 100 && !lock; ++again)
      static_cast<void>(lock.try_lock());
    if (!lock)
      lock.lock();
    return lock;
  }

  std::mutex mutex_;
  busy_meter meter_;
};

}  // namespace twinkle::runtime
