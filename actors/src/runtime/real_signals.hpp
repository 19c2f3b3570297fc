// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <thread>

namespace twinkle::runtime {

/// Ctrl-C, SIGTERM and, unless it is ignored, as under nohup, the end of the terminal. Make it before any thread is
/// started, so that no other thread takes them: what comes while nobody watches waits for the next who does.
class real_signals {
 public:
  /// While it is there, the first signal calls `on_first`, and the second leaves the process at once with code 130.
  /// Without `on_first` the first does.
  class watching {
   public:
    watching(const real_signals& of, std::function<void()> on_first);
    /// Returns when `on_first` will not be called any more.
    ~watching();
    watching(const watching&) = delete;
    watching& operator=(const watching&) = delete;

   private:
    int closing_;
    std::thread watcher_;
  };

  real_signals();
  ~real_signals();
  real_signals(const real_signals&) = delete;
  real_signals& operator=(const real_signals&) = delete;

 private:
  int signals_;
};

/// What a process ends with that was told to stop, and did.
inline constexpr int code_of_interrupted = 130;

}  // namespace twinkle::runtime
