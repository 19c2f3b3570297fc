// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "channel.hpp"
#include "twinkle/data/frame.hpp"

namespace twinkle::net {

/// Frames off a channel. The header of the next one comes along with the end of this one, so that a stream of data costs
/// one call a frame.
class frame_reader {
 public:
  /// Where all of the part belongs, asked before each read; empty if it is wanted no more.
  using room = std::function<std::span<std::byte>()>;

  explicit frame_reader(channel& from) : from_(from) {}

  /// Throws `error`, and all functions what the channel throws.
  [[nodiscard]] asio::awaitable<frame_header> header(const frame_limits& limits);
  /// The next part of the frame; behind the `last` comes a header.
  [[nodiscard]] asio::awaitable<void> part(std::size_t bytes, room where, bool last);

  /// All there were.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Whether what came looked like a frame of ours.
  [[nodiscard]] bool knew() const { return knew_; }

 private:
  [[nodiscard]] asio::awaitable<void> after(std::size_t got);

  channel& from_;
  std::array<std::byte, frame_header::bytes> next_{};
  std::size_t have_ = 0;  // of next_
  std::vector<std::byte> unwanted_;
  std::size_t bytes_ = 0;
  std::size_t without_pause_ = 0;
  bool knew_ = false;
};

}  // namespace twinkle::net
