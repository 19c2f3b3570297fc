// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>
#include <vector>

#include "for_all.hpp"
#include "twinkle/base/random.hpp"
#include "twinkle/sim/exhaustive_chooser.hpp"
#include "twinkle/sim/random_chooser.hpp"
#include "twinkle/sim/recording_chooser.hpp"
#include "twinkle/sim/replay_chooser.hpp"

using namespace twinkle::sim;
using choices = std::vector<std::size_t>;

namespace {

// A world whose next choice depends on what was chosen before: some lead to more, some to fewer.
choices play(twinkle::chooser_seam& chooser, std::size_t length) {
  choices made;
  std::size_t among = 3;
  for (std::size_t at = 0; at < length; ++at) {
    made.push_back(chooser.choose(among));
    among = 1 + (made.back() + at) % 3;
  }
  return made;
}

// All that the world above can do, in order.
void all(std::size_t among, std::size_t length, choices& so_far, std::vector<choices>& into) {
  if (so_far.size() == length) {
    into.push_back(so_far);
    return;
  }
  for (std::size_t choice = 0; choice < among; ++choice) {
    so_far.push_back(choice);
    all(1 + (choice + so_far.size() - 1) % 3, length, so_far, into);
    so_far.pop_back();
  }
}

}  // namespace

TEST_CASE("what was recorded is chosen again") {
  for_all([] {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto length = *rc::gen::inRange<std::size_t>(0, 30);
    random_chooser random{seed};
    recording_chooser recorder{random};
    const choices first = play(recorder, length);
    replay_chooser again{recorder.choices()};
    RC_ASSERT(play(again, length) == first);
  });
}

TEST_CASE("a replay chooses 0 past its end, and the last of fewer than there were") {
  replay_chooser chooser{{2, 2, 1}};
  CHECK(chooser.choose(3) == 2);
  CHECK(chooser.choose(1) == 0);
  CHECK(chooser.choose(2) == 1);
  CHECK(chooser.choose(5) == 1);
  CHECK(chooser.choose(5) == 0);
}

TEST_CASE("every sequence of choices is tried once, in order") {
  std::vector<choices> expected;
  choices so_far;
  all(3, 7, so_far, expected);
  exhaustive_chooser chooser{7};
  std::vector<choices> tried;
  do
    tried.push_back(play(chooser, 7));
  while (chooser.next());
  CHECK(expected.size() > 100);
  CHECK(tried == expected);
  CHECK(chooser.sequences() == expected.size());
  CHECK_FALSE(chooser.cut_off());
}

TEST_CASE("behind its bound an exhaustive chooser chooses 0, and says that it did not try all") {
  exhaustive_chooser chooser{2};
  std::set<choices> tried;
  do {
    choices made;
    for (int at = 0; at < 4; ++at)
      made.push_back(chooser.choose(3));
    CHECK(made[2] == 0);
    CHECK(made[3] == 0);
    tried.insert(made);
  } while (chooser.next());
  CHECK(tried.size() == 9);
  CHECK(chooser.sequences() == 9);
  CHECK(chooser.cut_off());
}

TEST_CASE("a choice of one is none, and does not count towards the bound") {
  exhaustive_chooser chooser{1};
  do {
    CHECK(chooser.choose(1) == 0);
    CHECK(chooser.choose(2) == chooser.sequences() - 1);
  } while (chooser.next());
  CHECK(chooser.sequences() == 2);
  CHECK_FALSE(chooser.cut_off());
}
