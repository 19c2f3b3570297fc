// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "twinkle/flow/seams.hpp"

namespace twinkle::sim {

/// A thread that runs only while it holds the baton: the driver hands it over with `resume`, and gets it back when the
/// thread blocks or has no more jobs. So exactly one thread of a simulation runs at any time.
class baton_thread {
 public:
  /// What a wait throws when nobody waits for its thread any more.
  struct unwound {};

  /// `on_ready` is called when the thread could go on; it is asked again after each resume.
  explicit baton_thread(std::function<void()> on_ready);
  /// Unwinds it.
  ~baton_thread();
  baton_thread(const baton_thread&) = delete;
  baton_thread& operator=(const baton_thread&) = delete;

  // By whoever holds the baton.
  void give(std::function<void()> job);
  void wake();
  void resume();
  /// Nobody waits for it any more: a job that is blocked, or has not begun, is to come to its end at once. Each wait in
  /// it throws `unwound`; one that ignores that for long is left where it is.
  void unwind();

  // By the thread itself: hands the baton back until woken. A wake that came first is taken at once.
  void wait();

 private:
  struct state;
  static void loop(const std::shared_ptr<state>& self);

  std::function<void()> on_ready_;
  std::shared_ptr<state> state_;  // shared with the thread, which may outlive this if it never ends
};

}  // namespace twinkle::sim
