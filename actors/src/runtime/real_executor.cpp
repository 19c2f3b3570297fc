// SPDX-License-Identifier: Apache-2.0
#include "real_executor.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "shared_body.hpp"

namespace twinkle::runtime {
namespace {

class real_gate final : public gate {
 public:
  explicit real_gate(real_clock clock) : clock_(clock) {}

  void wait() override {
    std::unique_lock lock(mutex_);
    woken_.wait(lock, [&] { return awake_; });
    awake_ = false;
  }
  void wait_until(time_point when) override {
    std::unique_lock lock(mutex_);
    woken_.wait_until(lock, clock_.at(when), [&] { return awake_; });
    awake_ = false;
  }
  void wake() override {
    {
      const std::lock_guard lock(mutex_);
      awake_ = true;
    }
    woken_.notify_one();
  }

 private:
  real_clock clock_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool awake_ = false;
};

// What the thread works on; it may outlive its owner if it was abandoned.
struct queue {
  explicit queue(real_clock clock) : blocking(clock) {}

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> jobs;
  bool closed = false;
  real_gate blocking;
};

void work(const std::shared_ptr<queue>& of) {
  while (true) {
    std::function<void()> job;
    {
      std::unique_lock lock(of->mutex);
      of->changed.wait(lock, [&] { return of->closed || !of->jobs.empty(); });
      if (of->closed)
        return;
      job = std::move(of->jobs.front());
      of->jobs.pop_front();
    }
    job();
  }
}

class thread_body final : public body_seam {
 public:
  explicit thread_body(const real_clock& clock)
      : queue_(std::make_shared<queue>(clock)), thread_([of = queue_] { work(of); }) {}

  ~thread_body() override {
    {
      const std::lock_guard lock(queue_->mutex);
      queue_->closed = true;
    }
    queue_->changed.notify_one();
    if (thread_.joinable())
      thread_.join();
  }

  void run(std::function<void()> job) override {
    {
      const std::lock_guard lock(queue_->mutex);
      queue_->jobs.push_back(std::move(job));
    }
    queue_->changed.notify_one();
  }
  [[nodiscard]] gate& blocking() override { return queue_->blocking; }
  void abandon() override { thread_.detach(); }

 private:
  std::shared_ptr<queue> queue_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<body_seam> real_executor::make(const std::string& name, bodies kind) {
  if (kind == bodies::shared)
    return std::make_unique<shared_body>(name);
  return std::make_unique<thread_body>(clock_);
}

}  // namespace twinkle::runtime
