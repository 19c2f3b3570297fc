// SPDX-License-Identifier: Apache-2.0
#include "connection.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "twinkle/base/error.hpp"

namespace twinkle::net::control {

connection::connection(std::uint64_t number, int socket, std::function<void(std::uint64_t)> ended)
    : number_(number), socket_(::fcntl(socket, F_DUPFD_CLOEXEC, 0)), tell_(std::move(ended)) {
  if (socket_.get() < 0)
    throw error("cannot keep a connection: " + words(errno));
}

void connection::end(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_)
      return;
    why_ = why;
    ended_ = true;
  }
  ::shutdown(socket_.get(), SHUT_RDWR);
  tell_(number_);
}

std::string connection::why() const {
  const std::lock_guard lock(mutex_);
  return why_;
}

bool connection::count_sent(std::uint64_t bytes, std::uint64_t unacknowledged_max) {
  const std::lock_guard lock(mutex_);
  if (sent_ - acknowledged_ + bytes > unacknowledged_max)
    return false;
  sent_ += bytes;
  return true;
}

void connection::acknowledge(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  acknowledged_ = std::clamp(bytes, acknowledged_, sent_);
}

}  // namespace twinkle::net::control
