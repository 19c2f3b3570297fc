// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <caf/actor_system.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/logger.hpp>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>

#include "twinkle/flow/message.hpp"
#include "twinkle/flow/seams.hpp"

namespace twinkle::runtime {

/// The last message that an actor gets.
struct curtain {};

/// A new role for an actor, in the place of the one that it plays.
struct recast {
  std::shared_ptr<std::unique_ptr<actor_role>> role;
};

/// A thread that makes or spawns into a system keeps hold of the system's logger from then on, and the system's
/// destructor on another thread waits for that. This lets go of it again, unless the thread held it before.
class logger_kept {
 public:
  logger_kept() = default;
  ~logger_kept() {
    if (caf::logger::current_logger() != before_)
      caf::logger::set_current_actor_system(nullptr);
  }
  logger_kept(const logger_kept&) = delete;
  logger_kept& operator=(const logger_kept&) = delete;

 private:
  const caf::logger* before_ = caf::logger::current_logger();
};

/// Counts the actors of a world that have not ended.
class census {
 public:
  void enter() {
    const std::lock_guard lock(mutex_);
    ++alive_;
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    if (--alive_ == 0)
      empty_.notify_all();
  }
  void wait_for_none() {
    std::unique_lock lock(mutex_);
    empty_.wait(lock, [this] { return alive_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable empty_;
  std::size_t alive_ = 0;
};

}  // namespace twinkle::runtime

// Messages stay in the process. Without ids of types there is nothing that could clash with the ids of a user's own.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(twinkle::message)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(twinkle::runtime::curtain)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(twinkle::runtime::recast)
