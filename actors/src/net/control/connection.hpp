// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "sockets.hpp"

namespace twinkle::net::control {

/// A connected socket in the eyes of a link: anyone may end it at any time, and the first says why.
class connection {
 public:
  /// Keeps a handle of its own on `socket`. `ended` is called once, on the thread that ends it.
  connection(std::uint64_t number, int socket, std::function<void(std::uint64_t)> ended);

  [[nodiscard]] std::uint64_t number() const { return number_; }

  /// From now on the socket neither reads nor writes, whatever the other side does or does not do.
  void end(const std::string& why);
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] std::string why() const;

  /// Counts what is sent, by any thread: false where more than `unacknowledged_max` would be without an answer.
  [[nodiscard]] bool count_sent(std::uint64_t bytes, std::uint64_t unacknowledged_max);
  /// The other side has taken this many bytes in all.
  void acknowledge(std::uint64_t bytes);

 private:
  const std::uint64_t number_;
  socket_handle socket_;
  std::function<void(std::uint64_t)> tell_;
  std::atomic<bool> ended_ = false;
  mutable std::mutex mutex_;
  std::string why_;
  std::uint64_t sent_ = 0;
  std::uint64_t acknowledged_ = 0;
};

}  // namespace twinkle::net::control
