// SPDX-License-Identifier: Apache-2.0
#include "real_ticker.hpp"

#include <utility>

namespace twinkle::runtime {

real_ticker::real_ticker(duration every, std::function<void()> call)
    : thread_([this, every, tick = std::move(call)] {
        std::unique_lock lock(mutex_);
        while (!changed_.wait_for(lock, every, [this] { return closing_; })) {
          lock.unlock();
          tick();
          lock.lock();
        }
      }) {}

real_ticker::~real_ticker() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

}  // namespace twinkle::runtime
