// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/meeting_hall.hpp"
#include "twinkle/base/random.hpp"

namespace hall_test {

using twinkle::hall_letter;
using twinkle::runtime::meeting_hall;

/// The halls of a stage on several nodes, and the post between them, which brings letters in an order drawn from a
/// seed, as bytes.
class post {
 public:
  post(std::vector<std::size_t> node_of_worker, std::size_t nodes, std::uint64_t seed)
      : node_of_worker_(std::move(node_of_worker)), random_(seed) {
    for (std::size_t node = 0; node < nodes; ++node) {
      ways_.push_back(std::make_unique<way>(*this, node));
      halls_.push_back(std::make_unique<meeting_hall>(ways_.back().get()));
    }
  }
  ~post() { stop(); }
  post(const post&) = delete;
  post& operator=(const post&) = delete;

  [[nodiscard]] meeting_hall& hall(std::size_t node) { return *halls_[node]; }
  [[nodiscard]] meeting_hall& hall_of(std::size_t worker) { return hall(node_of_worker_[worker]); }

  /// Brings letters from now on, as they come, on a thread of its own.
  void start() {
    postman_ = std::thread([this] {
      std::unique_lock lock(mutex_);
      while (true) {
        changed_.wait(lock, [&] { return stopped_ || !under_way_.empty(); });
        if (stopped_)
          return;
        bring_one(lock);
      }
    });
  }
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    if (postman_.joinable())
      postman_.join();
  }
  /// Brings so many letters, and waits for them if they are still to be written.
  void bring(std::size_t letters) {
    std::unique_lock lock(mutex_);
    for (; letters > 0; --letters) {
      changed_.wait(lock, [&] { return !under_way_.empty(); });
      bring_one(lock);
    }
  }

  [[nodiscard]] std::size_t bytes_sent() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  struct sent {
    std::size_t node;
    hall_letter letter;
  };

  class way final : public twinkle::runtime::hall_outside {
   public:
    way(post& of, std::size_t node) : of_(of), node_(node) {}
    [[nodiscard]] std::size_t node_of(std::size_t worker) const override { return of_.node_of_worker_.at(worker); }
    [[nodiscard]] std::size_t here() const override { return node_; }
    void send(std::size_t node, hall_letter letter) override {
      {
        const std::lock_guard lock(of_.mutex_);
        of_.bytes_ += letter.values.bytes();
        of_.under_way_.push_back({node, std::move(letter)});
      }
      of_.changed_.notify_all();
    }

   private:
    post& of_;
    std::size_t node_;
  };

  void bring_one(std::unique_lock<std::mutex>& lock) {
    std::swap(under_way_[random_.below(under_way_.size())], under_way_.back());
    const sent next = std::move(under_way_.back());
    under_way_.pop_back();
    lock.unlock();
    std::vector<std::byte> values(next.letter.values.bytes());
    if (!values.empty())
      std::memcpy(values.data(), next.letter.values.data(), values.size());
    hall(next.node).arrived(twinkle::letter_of(head_of(next.letter), twinkle::buffer::of(std::move(values))));
    lock.lock();
  }

  std::vector<std::size_t> node_of_worker_;
  std::vector<std::unique_ptr<way>> ways_;
  std::vector<std::unique_ptr<meeting_hall>> halls_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<sent> under_way_;
  std::size_t bytes_ = 0;
  twinkle::generator random_;
  bool stopped_ = false;
  std::thread postman_;
};

}  // namespace hall_test
