// SPDX-License-Identifier: Apache-2.0
#include "net/bulk/frame_queue.hpp"

#include <doctest/doctest.h>

#include <numeric>

using twinkle::buffer;
using twinkle::frame_header;
using twinkle::frame_kind;
using twinkle::net::frame_queue;
using bytes = std::vector<std::byte>;

namespace {

bytes counted(std::size_t count, int first = 0) {
  bytes made(count);
  for (std::size_t at = 0; at < count; ++at)
    made[at] = static_cast<std::byte>(first + static_cast<int>(at));
  return made;
}

struct frame {
  frame_header header;
  bytes rest;
};

// What `next` gives, as frames again.
std::vector<frame> next_of(frame_queue& queue) {
  bytes all;
  for (const auto& part : queue.next())
    all.insert(all.end(), part.begin(), part.end());
  std::vector<frame> frames;
  for (std::span<const std::byte> left = all; !left.empty();) {
    frame& made = frames.emplace_back();
    made.header = twinkle::frame_header_of(left.first(frame_header::bytes));
    left = left.subspan(frame_header::bytes);
    const auto rest = left.first(made.header.head_bytes + made.header.body_bytes);
    made.rest.assign(rest.begin(), rest.end());
    left = left.subspan(rest.size());
  }
  return frames;
}

}  // namespace

TEST_CASE("frames go in their order, before data") {
  frame_queue queue{false, 100};
  queue.answer(7, {buffer::of(counted(10))});
  queue.put({.kind = frame_kind::cancel, .id = 3});
  queue.put({.kind = frame_kind::message}, counted(2), buffer::of(counted(3, 2)));
  CHECK(queue.bytes() == 5);
  const auto sent = next_of(queue);
  REQUIRE(sent.size() == 3);
  CHECK(sent[0].header.id == 3);
  CHECK(sent[1].rest == counted(5));
  CHECK(sent[2].header.id == 7);
  CHECK(sent[2].rest == counted(10));
  CHECK(queue.bytes() == 0);
  CHECK(next_of(queue).empty());
}

TEST_CASE("answers take turns, a chunk each") {
  frame_queue queue{false, 4};
  queue.answer(1, {buffer::of(counted(3)), buffer{}, buffer::of(counted(6, 3))});
  queue.answer(2, {buffer::of(counted(5))});
  std::vector<std::uint64_t> turns;
  bytes first;
  for (auto sent = next_of(queue); !sent.empty(); sent = next_of(queue)) {
    REQUIRE(sent.size() == 1);
    turns.push_back(sent[0].header.id);
    if (turns.back() == 1) {
      CHECK(sent[0].header.offset == first.size());
      first.insert(first.end(), sent[0].rest.begin(), sent[0].rest.end());
    }
  }
  CHECK(turns == std::vector<std::uint64_t>{1, 2, 1, 2, 1});
  CHECK(first == counted(9));
}

TEST_CASE("of an answer that is forgotten nothing more is sent, and what is being sent stays") {
  frame_queue queue{false, 4};
  auto kept = std::make_shared<const bytes>(counted(8));
  queue.answer(1, {buffer{kept->data(), kept->size(), kept}});
  const auto sent = queue.next();
  queue.forget(1);
  CHECK(queue.answers() == 0);
  CHECK(kept.use_count() == 2);
  CHECK(sent.back()[3] == std::byte{3});
  CHECK(queue.next().empty());
  CHECK(kept.use_count() == 1);
}

TEST_CASE("a frame is checked as a whole, and a chunk of data for itself") {
  frame_queue queue{true, 4};
  queue.put({.kind = frame_kind::message}, counted(2), buffer::of(counted(3, 2)));
  queue.put({});
  queue.answer(1, {buffer::of(counted(3)), buffer::of(counted(3, 3))});
  const auto sent = next_of(queue);
  REQUIRE(sent.size() == 3);
  CHECK(sent[0].header.checksum == twinkle::frame_checksum(counted(2), counted(3, 2)));
  CHECK_FALSE(sent[1].header.checked);
  CHECK(sent[2].header.checksum == twinkle::frame_checksum({}, counted(3)));
  CHECK(sent[2].rest == counted(3));
  CHECK(next_of(queue).at(0).rest == counted(3, 3));
}
