// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "twinkle/data/buffer.hpp"
#include "twinkle/data/frame.hpp"

namespace twinkle::net {

/// What is to be sent over one connection. Frames go in their order and before all data; answers take turns, a chunk
/// each, so that a few rows need not wait for a whole model. Nothing is copied.
class frame_queue {
 public:
  frame_queue(bool checksums, std::size_t chunk_bytes) : checksums_(checksums), chunk_bytes_(chunk_bytes) {}

  void put(frame_header header, std::vector<std::byte> head = {}, buffer body = {});
  /// The pieces one after the other, as data with this id. They must have a byte.
  void answer(std::uint64_t id, std::vector<buffer> pieces);
  /// Nothing more of this answer.
  void forget(std::uint64_t id);

  /// What to write next; it stays until this is called again. Empty if there is nothing.
  [[nodiscard]] std::vector<std::span<const std::byte>> next();

  /// Of frames that wait.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t answers() const { return answers_.size(); }

 private:
  struct frame {
    std::array<std::byte, frame_header::bytes> header{};
    std::vector<std::byte> head;
    buffer body;
  };
  struct answer_under_way {
    std::uint64_t id = 0;
    std::vector<buffer> pieces;
    std::size_t piece = 0;   // the next byte is in this one,
    std::size_t within = 0;  // here,
    std::size_t offset = 0;  // and here in the whole
  };

  [[nodiscard]] frame made(frame_header header, std::vector<std::byte> head, buffer body) const;
  void chunk(std::vector<std::span<const std::byte>>& out);
  [[nodiscard]] std::vector<buffer> cut_chunk(answer_under_way& of) const;

  bool checksums_;
  std::size_t chunk_bytes_;
  std::deque<frame> frames_;
  std::size_t bytes_ = 0;
  std::deque<answer_under_way> answers_;
  std::deque<frame> sent_;      // what `next` gave last
  std::vector<buffer> pieces_;  // and this
};

}  // namespace twinkle::net
