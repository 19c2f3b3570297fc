// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <thread>

namespace twinkle::runtime {

/// Ctrl-C and SIGTERM: the first calls `on_first`, the second leaves the process at once with code 130. Make it before
/// any thread is started, so that no other thread takes the signals.
class real_signals {
 public:
  real_signals();
  ~real_signals();
  real_signals(const real_signals&) = delete;
  real_signals& operator=(const real_signals&) = delete;

  void watch(std::function<void()> on_first);
  /// Returns when `on_first` will not be called any more.
  void unwatch();

 private:
  int signals_;
  int closing_;
  std::thread watcher_;
};

}  // namespace twinkle::runtime
