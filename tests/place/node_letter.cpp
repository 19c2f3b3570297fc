// SPDX-License-Identifier: Apache-2.0
#include "twinkle/place/node_letter.hpp"

#include <doctest/doctest.h>

#include "twinkle/base/error.hpp"

using twinkle::address;
using twinkle::buffer;
using twinkle::place::letter_from_bytes;
using twinkle::place::node_letter;
using twinkle::place::to_bytes;
namespace letter = twinkle::place::letter;

namespace {

buffer some_bytes(std::size_t count) { return buffer::of(std::vector<std::uint8_t>(count, 7)); }

std::vector<node_letter> all_kinds() {
  return {letter::hello{letter::protocol, "lab", 42, "b", 7, "127.0.0.1", 7070},
          letter::refused{"why"},
          letter::nodes{{{"127.0.0.1", 7070, 1}, {"", 0, 0}}},
          letter::ping{},
          letter::post{address::router(3), address::worker(3, 9), some_bytes(11)},
          letter::post{address::worker(3, 9), address::router(3), {}},
          letter::spawn{address::worker(1, 2)},
          letter::release{{1, 2, 3}},
          letter::interrupt{},
          letter::unreachable{2, 77, "why"},
          letter::goodbye{-1}};
}

}  // namespace

TEST_CASE("letters arrive as they were sent") {
  for (const node_letter& each : all_kinds()) {
    const std::vector<std::byte> sent = to_bytes(each);
    const node_letter back = letter_from_bytes(buffer::of(sent));
    CHECK(back.index() == each.index());
    CHECK(to_bytes(back) == sent);
  }
  const auto post = std::get<letter::post>(letter_from_bytes(buffer::of(to_bytes(all_kinds()[4]))));
  CHECK(post.from == address::router(3));
  CHECK(post.to == address::worker(3, 9));
  CHECK(post.bytes.bytes() == 11);
  CHECK(reinterpret_cast<std::uintptr_t>(post.bytes.data()) % 8 == 0);
}

TEST_CASE("a letter that is cut off, or has something behind it, is refused") {
  for (const node_letter& each : all_kinds()) {
    if (std::holds_alternative<letter::post>(each))
      continue;  // of which the length is nobody's business
    const std::vector<std::byte> sent = to_bytes(each);
    for (std::size_t bytes = 0; bytes < sent.size(); ++bytes)
      CHECK_THROWS_AS((void)letter_from_bytes(buffer::of(std::vector(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(bytes)))),
                      twinkle::error);
    std::vector<std::byte> more = sent;
    more.push_back(std::byte{0});
    CHECK_THROWS_AS((void)letter_from_bytes(buffer::of(more)), twinkle::error);
  }
  CHECK_THROWS_WITH_AS((void)letter_from_bytes(buffer::of(std::vector<std::byte>{std::byte{99}})),
                       "wire: there is no kind 99 of letters between nodes", twinkle::error);
}
