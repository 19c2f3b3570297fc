// SPDX-License-Identifier: Apache-2.0
#include "baton.hpp"

#include <exception>
#include <thread>

namespace twinkle::sim {
namespace {

// A body may catch what a wait throws and wait again, but not for ever.
constexpr int patience_waits = 100;

}  // namespace

struct baton_thread::state {
  std::mutex mutex;
  std::condition_variable changed;
  bool running = false;  // the thread holds the baton
  bool inside = false;   // it is in a job
  bool ready = false;    // it could go on, and the driver knows
  bool woken = false;
  bool unwinds = false;
  int unwound = 0;       // waits that threw
  bool closed = false;
  std::deque<std::function<void()>> jobs;
  std::thread thread;
};

baton_thread::baton_thread(std::function<void()> on_ready)
    : on_ready_(std::move(on_ready)), state_(std::make_shared<state>()) {
  state_->thread = std::thread([self = state_] { loop(self); });
}

baton_thread::~baton_thread() {
  unwind();
  {
    const std::lock_guard lock(state_->mutex);
    state_->closed = true;
  }
  state_->changed.notify_all();
  // A job that ignores all is never resumed: its thread stays parked, and its state with it.
  if (state_->inside)
    state_->thread.detach();
  else
    state_->thread.join();
}

void baton_thread::unwind() {
  state_->unwinds = true;
  if (!state_->inside)
    state_->jobs.clear();
  while (state_->inside && state_->unwound < patience_waits)
    resume();
}

void baton_thread::loop(const std::shared_ptr<state>& self) {
  std::unique_lock lock(self->mutex);
  while (true) {
    self->changed.wait(lock, [&] { return self->running || self->closed; });
    if (self->closed)
      return;
    while (!self->jobs.empty() && !self->unwinds) {
      std::function<void()> job = std::move(self->jobs.front());
      self->jobs.pop_front();
      self->inside = true;
      lock.unlock();
      job();
      job = nullptr;
      lock.lock();
      self->inside = false;
    }
    self->running = false;
    self->changed.notify_all();
  }
}

void baton_thread::give(std::function<void()> job) {
  state_->jobs.push_back(std::move(job));
  if (!state_->inside && !state_->ready) {
    state_->ready = true;
    on_ready_();
  }
}

void baton_thread::wake() {
  state_->woken = true;
  if (state_->inside && !state_->running && !state_->ready) {
    state_->ready = true;
    on_ready_();
  }
}

void baton_thread::resume() {
  std::unique_lock lock(state_->mutex);
  state_->ready = false;
  state_->running = true;
  state_->changed.notify_all();
  state_->changed.wait(lock, [&] { return !state_->running; });
}

void baton_thread::wait() {
  const std::shared_ptr<state> kept = state_;  // once the baton is handed back, an abandoned body outlives its owner
  std::unique_lock lock(kept->mutex);
  const auto pause = [&] {
    kept->running = false;
    kept->changed.notify_all();
    kept->changed.wait(lock, [&] { return kept->running; });
  };
  if (!kept->woken && !kept->unwinds)
    pause();
  kept->woken = false;
  while (kept->unwinds) {
    if (kept->unwound++ < patience_waits && std::uncaught_exceptions() == 0)
      throw unwound{};
    pause();
  }
}

}  // namespace twinkle::sim
