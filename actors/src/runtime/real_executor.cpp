// SPDX-License-Identifier: Apache-2.0
#include "real_executor.hpp"

#include <semaphore.h>

#include <cerrno>
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

// What the thread works on; it may outlive its owner if it was abandoned. A thread that wakes from a condition variable
// leaves its mutex marked as contended, and unlocking it is a system call; a semaphore spares that for each job.
class queue {
 public:
  explicit queue(real_clock clock) : blocking(clock) { sem_init(&changes_, 0, 0); }
  ~queue() { sem_destroy(&changes_); }
  queue(const queue&) = delete;
  queue& operator=(const queue&) = delete;

  void push(std::function<void()> job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    sem_post(&changes_);
  }

  /// Jobs that have not begun are forgotten.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    sem_post(&changes_);
  }

  /// Blocks until there is a job, or the queue is closed: then it is empty.
  [[nodiscard]] std::function<void()> pop() {
    while (sem_wait(&changes_) != 0 && errno == EINTR) {
    }
    const std::lock_guard lock(mutex_);
    if (closed_)
      return nullptr;
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    return job;
  }

  real_gate blocking;
  std::shared_ptr<void> needs;  // of a thread that was abandoned

 private:
  sem_t changes_;  // counts what was pushed, and the closing
  std::mutex mutex_;
  std::deque<std::function<void()>> jobs_;
  bool closed_ = false;
};

void work(queue& of) {
  while (const std::function<void()> job = of.pop())
    job();
}

class thread_body final : public body_seam {
 public:
  explicit thread_body(const real_clock& clock)
      : queue_(std::make_shared<queue>(clock)), thread_([of = queue_] { work(*of); }) {}

  ~thread_body() override {
    queue_->close();
    if (thread_.joinable())
      thread_.join();
  }

  void run(std::function<void()> job) override { queue_->push(std::move(job)); }
  [[nodiscard]] gate& blocking() override { return queue_->blocking; }
  void abandon(std::shared_ptr<void> needs) override {
    queue_->needs = std::move(needs);
    thread_.detach();
  }

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
