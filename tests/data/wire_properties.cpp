// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <numeric>
#include <optional>
#include <vector>

#include "data/rows.hpp"
#include "for_all.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/data/wire.hpp"

using rows::any_batch;
using rows::content_of;
using twinkle::batch;
using twinkle::buffer;
using twinkle::from_bytes;
using twinkle::from_wire;
using twinkle::to_bytes;
using twinkle::to_wire;
using twinkle::wire_form;
using bytes = std::vector<std::byte>;

namespace {

batch without_identities(const batch& from) { return rows::chunk_of(content_of(from).rows); }

// Reads every number there is, so that the sanitizers see a column that leaves its memory.
batch all_read(const batch& from) {
  std::vector<std::size_t> all(from.rows());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return from.take(all);
}

// Of an exact copy on the heap: one byte too far is seen.
std::optional<batch> received(const bytes& message) {
  try {
    auto got = from_wire<batch>(from_bytes(buffer::of(message)));
    (void)all_read(got);
    return got;
  } catch (const twinkle::error&) {
    return std::nullopt;
  }
}

batch small() {
  const batch part = rows::numbered(3).drop(std::vector<std::size_t>{1}, "bad");
  return batch::concat({{part[{1, 2}], part}});
}

}  // namespace

TEST_CASE("any batch arrives by value as it was sent, in its pieces and in one") {
  for_all([] {
    const batch identified = any_batch("sent");
    for (const batch& sent : {identified, without_identities(identified)}) {
      const wire_form form = to_wire(sent);
      const auto by_pieces = from_wire<batch>(form);
      RC_ASSERT(content_of(by_pieces) == content_of(sent));
      RC_ASSERT(by_pieces.names() == sent.names());
      RC_ASSERT(content_of(from_wire<batch>(from_bytes(buffer::of(to_bytes(form))))) == content_of(sent));
      RC_ASSERT(to_bytes(to_wire(by_pieces)) == to_bytes(form));
    }
  });
}

TEST_CASE("slices of what arrives are slices of what was sent") {
  for_all([] {
    const batch sent = any_batch("sent");
    const auto end = *rc::gen::inRange<std::size_t>(0, sent.rows() + 1);
    const auto first = *rc::gen::inRange<std::size_t>(0, end + 1);
    RC_ASSERT(content_of(from_wire<batch>(to_wire(sent))[{first, end}]) == content_of(sent[{first, end}]));
  });
}

TEST_CASE("no element is copied on the way: sending again sends the same memory") {
  for_all([] {
    const wire_form form = to_wire(any_batch("sent"));
    const wire_form again = to_wire(from_wire<batch>(form));
    RC_ASSERT(again.pieces.size() == form.pieces.size());
    for (std::size_t at = 0; at < form.pieces.size(); ++at)
      RC_ASSERT(again.pieces[at].data() == form.pieces[at].data());
  });
}

TEST_CASE("a message that is cut off anywhere is refused") {
  const bytes whole = to_bytes(to_wire(small()));
  REQUIRE(received(whole));
  for (std::size_t length = 0; length < whole.size(); ++length)
    CHECK_FALSE(received({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}));
}

TEST_CASE("a message with one wrong byte is refused, or has the same shape") {
  const batch sent = small();
  const bytes whole = to_bytes(to_wire(sent));
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const unsigned flip : {0x01U, 0x08U, 0x80U, 0xffU}) {
      bytes wrong = whole;
      wrong[at] ^= static_cast<std::byte>(flip);
      if (const std::optional<batch> got = received(wrong)) {
        CHECK(got->rows() == sent.rows());
        CHECK(got->names().size() == sent.names().size());
        CHECK(got->tombstone_count() == sent.tombstone_count());
      }
    }
}

TEST_CASE("a message of nothing but noise behind a good start is refused, or is a batch") {
  for_all([] {
    const bytes whole = to_bytes(to_wire(small()));
    bytes wrong = whole;
    const auto noise = *rc::gen::container<std::vector<std::uint8_t>>(rc::gen::arbitrary<std::uint8_t>());
    const auto first = *rc::gen::inRange<std::size_t>(0, whole.size());
    for (std::size_t at = 0; at < noise.size() && first + at < wrong.size(); ++at)
      wrong[first + at] = static_cast<std::byte>(noise[at]);
    (void)received(wrong);
  });
}
