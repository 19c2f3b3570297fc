// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/hall_letter.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "twinkle/base/error.hpp"

using twinkle::buffer;
using twinkle::hall_letter;
using twinkle::head_of;
using twinkle::letter_of;
using bytes = std::vector<std::byte>;

namespace {

hall_letter some_letter() {
  return {{7, {0, 2, 5}, 3}, hall_letter::kind::sum, 1, {8, 20}, buffer::of(bytes(12, std::byte{9})),
          "all-reduce of 9 f32"};
}

}  // namespace

TEST_CASE("a letter of a hall arrives as it was sent, and borrows its values") {
  const hall_letter sent = some_letter();
  const hall_letter got = letter_of(head_of(sent), sent.values);
  CHECK(got.meeting == sent.meeting);
  CHECK(got.what == sent.what);
  CHECK(got.from == sent.from);
  CHECK(got.part == sent.part);
  CHECK(got.agenda == sent.agenda);
  CHECK(got.values.data() == sent.values.data());
  CHECK(head_of(got) == head_of(sent));
}

TEST_CASE("a letter may be one way, from the greater worker to the smaller") {
  hall_letter sent = some_letter();
  sent.meeting = {7, {5, 2}, 0, true};
  CHECK(letter_of(head_of(sent), sent.values).meeting == sent.meeting);
}

TEST_CASE("values of a letter that do not start at a multiple of 8 bytes are copied to where they do") {
  hall_letter sent = some_letter();
  bytes odd(21);
  for (std::size_t at = 0; at < odd.size(); ++at)
    odd[at] = static_cast<std::byte>(at);
  const buffer all = buffer::of(odd);
  const buffer got = letter_of(head_of(sent), all.part(1, 12)).values;
  CHECK(reinterpret_cast<std::uintptr_t>(got.data()) % 8 == 0);
  CHECK(std::equal(got.data(), got.data() + 12, odd.data() + 1));
}

TEST_CASE("a letter that is cut off, longer, or of other values is refused") {
  const hall_letter sent = some_letter();
  const bytes head = head_of(sent);
  for (std::size_t size = 0; size < head.size(); ++size) {
    const bytes cut(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_THROWS_AS(letter_of(cut, sent.values), twinkle::error);
  }
  bytes longer = head;
  longer.push_back({});
  CHECK_THROWS_AS(letter_of(longer, sent.values), twinkle::error);
  CHECK_THROWS_WITH_AS(letter_of(head, sent.values.part(0, 4)),
                       "wire: a letter says that it brings bytes [8,20), but it brings 4", twinkle::error);
}

TEST_CASE("a letter that no hall writes is refused") {
  const auto refused = [](hall_letter wrong, const char* why) {
    CHECK_THROWS_WITH_AS(letter_of(head_of(wrong), wrong.values), why, twinkle::error);
  };
  hall_letter wrong = some_letter();
  wrong.from = 3;
  refused(wrong, "wire: a letter is from member 3 of a meeting of 3");
  wrong = some_letter();
  wrong.meeting.members = {0, 5, 5};
  refused(wrong, "wire: worker 5 follows worker 5 in a meeting; they must ascend");
  wrong = some_letter();
  wrong.meeting.one_way = true;
  refused(wrong, "wire: 3 workers where one sends to another");
  wrong = some_letter();
  wrong.what = static_cast<hall_letter::kind>(2);
  refused(wrong, "wire: a letter to a meeting is of an unknown kind 2");
  wrong = some_letter();
  wrong.agenda = "\xff";
  refused(wrong, "wire: the agenda of a meeting is not utf-8");
  wrong = some_letter();
  wrong.agenda = std::string(257, 'a');
  refused(wrong, "wire: 257 bytes of an agenda; at most 256 are taken");
  wrong = some_letter();
  wrong.part = {20, 8};
  refused(wrong, "wire: a letter says that it brings bytes [20,8), but it brings 12");
}
