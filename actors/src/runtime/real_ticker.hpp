// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "twinkle/base/time.hpp"

namespace twinkle::runtime {

/// Calls a function again and again, on a thread of its own.
class real_ticker {
 public:
  real_ticker(duration every, std::function<void()> call);
  /// Returns when the call that runs has ended.
  ~real_ticker();
  real_ticker(const real_ticker&) = delete;
  real_ticker& operator=(const real_ticker&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace twinkle::runtime
