// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/regroup.hpp"

#include <doctest/doctest.h>

#include "numbered.hpp"
#include "twinkle/base/error.hpp"

using namespace flow_test;
using twinkle::batch;
using twinkle::count_of;
using twinkle::group_by_parent;
using twinkle::rebatch;
using names = std::vector<std::string>;
using rows = std::vector<std::size_t>;

namespace {

std::vector<std::size_t> counts(const std::vector<batch>& of) {
  std::vector<std::size_t> found;
  for (const batch& each : of)
    found.push_back(count_of(each));
  return found;
}

}  // namespace

TEST_CASE("groups that are whole leave in the order of their parents, in one batch") {
  group_by_parent groups;
  const auto ready = groups.add(children(numbered(3), 2));
  REQUIRE(ready.size() == 1);
  CHECK(names_of(ready[0]) == names{"0:0/0", "0:0/1", "0:1/0", "0:1/1", "0:2/0", "0:2/1"});
  CHECK(groups.held() == 0);
  CHECK(groups.end().empty());
}

TEST_CASE("a group over several batches waits for its last row, and those behind it wait for the group") {
  group_by_parent groups;
  const batch all = children(numbered(3), 3);
  CHECK(groups.add(all.take(rows{0, 1})).empty());
  CHECK(groups.held() == 2);
  CHECK(groups.add(all.take(rows{3, 6, 4, 5})).empty());
  CHECK(groups.held() == 6);
  const auto ready = groups.add(all.take(rows{2, 7}));
  REQUIRE(ready.size() == 1);
  CHECK(names_of(ready[0]) == names{"0:0/0", "0:0/1", "0:0/2", "0:1/0", "0:1/1", "0:1/2"});
  CHECK(groups.held() == 2);
  CHECK(names_of(groups.add(all.take(rows{8})).at(0)) == names{"0:2/0", "0:2/1", "0:2/2"});
}

TEST_CASE("the end lets out groups that were never whole") {
  group_by_parent groups;
  CHECK(groups.add(children(numbered(2), 2).take(rows{0, 2, 3})).empty());
  const auto rest = groups.end();
  REQUIRE(rest.size() == 1);
  CHECK(names_of(rest[0]) == names{"0:0/0", "0:1/0", "0:1/1"});
  CHECK(groups.held() == 0);
}

TEST_CASE("a tombstone completes a group as a row does") {
  group_by_parent groups;
  const auto ready = groups.add(children(numbered(2), 2).drop(rows{1}, "bad"));
  REQUIRE(ready.size() == 1);
  CHECK(names_of(ready[0]) == names{"0:0/0", "0:1/0", "0:1/1"});
  CHECK(lost_in(ready[0]) == names{"0:0/1"});
}

TEST_CASE("a group of only tombstones is a group, between others and by itself") {
  group_by_parent groups;
  const auto ready = groups.add(children(numbered(3), 2).drop(rows{2, 3}, "bad"));
  REQUIRE(ready.size() == 1);
  CHECK(names_of(ready[0]) == names{"0:0/0", "0:0/1", "0:2/0", "0:2/1"});
  CHECK(lost_in(ready[0]) == names{"0:1/0", "0:1/1"});

  const batch lost = children(numbered(1, 7), 2).drop(rows{0, 1}, "bad");
  CHECK(groups.add(batch{}.with_tombstone(lost.tombstones()[0])).empty());
  CHECK(lost_in(groups.add(batch{}.with_tombstone(lost.tombstones()[1])).at(0)) == names{"0:7/0", "0:7/1"});
  rebatch two{2, true};
  const auto alone = two.add(lost);
  REQUIRE(alone.size() == 1);
  CHECK(alone[0].rows() == 0);
  CHECK(alone[0].tombstone_count() == 2);
}

TEST_CASE("a row whose parent was lost before it could be expanded passes as a closed group") {
  group_by_parent groups;
  const auto ready = groups.add(children(numbered(2), 2).with_tombstone({{{.sequence = 9}}, "bad"}));
  REQUIRE(ready.size() == 1);
  CHECK(ready[0].rows() == 4);
  CHECK(lost_in(ready[0]) == names{"0:9"});
  CHECK(groups.held() == 0);
}

TEST_CASE("rows without parents are groups of one") {
  group_by_parent groups;
  CHECK(names_of(groups.add(numbered(3)).at(0)) == names{"0:0", "0:1", "0:2"});
}

TEST_CASE("a lost parent that waits is not taken for the parent of row 0") {
  group_by_parent groups;
  const batch all = children(numbered(2), 2);
  CHECK(groups.add(all.take(rows{2}).with_tombstone({{{.sequence = 9}}, "bad"})).empty());
  CHECK(groups.add(all.take(rows{0, 1})).empty());
  const auto ready = groups.add(all.take(rows{3}));
  REQUIRE(ready.size() == 1);
  CHECK(names_of(ready[0]) == names{"0:1/0", "0:1/1", "0:0/0", "0:0/1"});
  CHECK(lost_in(ready[0]) == names{"0:9"});
}

TEST_CASE("a group with more members than it was closed with is refused by name") {
  group_by_parent groups;
  const batch pair = children(numbered(1, 4), 2);
  CHECK(groups.add(pair.take(rows{0})).empty());
  CHECK_THROWS_WITH_AS((void)groups.add(pair),
                       "group_by: the group of row 0:4 has 3 members, but was closed with 2", twinkle::error);
}

TEST_CASE("rebatch gives batches of its number, whatever came in") {
  rebatch four{4, false};
  CHECK(four.add(numbered(3)).empty());
  CHECK(four.held() == 3);
  const auto ready = four.add(numbered(7, 3));
  REQUIRE(ready.size() == 2);
  CHECK(numbers_of(ready[0]) == numbers{0, 1, 2, 3});
  CHECK(numbers_of(ready[1]) == numbers{4, 5, 6, 7});
  CHECK(four.held() == 2);
  CHECK(numbers_of(four.end().at(0)) == numbers{8, 9});
  CHECK(four.held() == 0);
  CHECK(four.end().empty());
}

TEST_CASE("case K-F2: a rebatch of two with one row and one tombstone ends with one row") {
  for (const bool whole_groups : {false, true}) {
    rebatch two{2, whole_groups};
    const auto ready = two.add(children(numbered(1), 2).drop(rows{0}, "rejected"));
    REQUIRE(ready.size() == 1);
    CHECK(ready[0].rows() == 1);
    CHECK(lost_in(ready[0]) == names{"0:0/0"});
    CHECK(two.held() == 0);
  }
}

TEST_CASE("rebatch counts tombstones to the number, however many stand in one place") {
  rebatch two{2, false};
  const auto ready = two.add(numbered(6).drop(rows{1, 2, 3, 5}, "bad"));
  CHECK(counts(ready) == std::vector<std::size_t>{2, 2, 2});
  CHECK(names_of(join(ready)) == names{"0:0", "0:4"});
  CHECK(lost_in(join(ready)) == names{"0:1", "0:2", "0:3", "0:5"});
  CHECK(two.held() == 0);
  CHECK(counts(two.add(numbered(3, 6).drop(rows{0, 1, 2}, "bad"))) == std::vector<std::size_t>{2});
  CHECK(two.held() == 1);
}

TEST_CASE("rebatch ends before the group that would pass its number") {
  rebatch eight{8, true};
  const auto ready = eight.add(children(numbered(3), 3));
  REQUIRE(ready.size() == 1);
  CHECK(names_of(ready[0]) == names{"0:0/0", "0:0/1", "0:0/2", "0:1/0", "0:1/1", "0:1/2"});
  CHECK(eight.held() == 3);
}

TEST_CASE("a group that fills a batch alone is one") {
  rebatch four{4, true};
  CHECK(counts(four.add(children(numbered(2), 4))) == std::vector<std::size_t>{4, 4});
}

TEST_CASE("a group that is larger than the batch is refused with both numbers") {
  rebatch four{4, true};
  CHECK_THROWS_WITH_AS((void)four.add(children(numbered(1), 5)),
                       "rebatch: a group of 5 rows does not fit a batch of 4; rebatch to at least the size of a group",
                       twinkle::error);
}

TEST_CASE("a batch of nothing changes nothing") {
  group_by_parent groups;
  rebatch two{2, false};
  rebatch whole{2, true};
  CHECK(groups.add(batch{}).empty());
  CHECK(two.add(batch{}).empty());
  CHECK(whole.add(batch{}).empty());
  CHECK(groups.held() + two.held() + whole.held() == 0);
}

TEST_CASE("a filter makes tombstones of the rows that it does not keep, with the reason") {
  twinkle::filter_rows even([](const batch& rows) {
    std::vector<bool> kept;
    for (const std::int64_t each : numbers_of(rows))
      kept.push_back(each % 2 == 0);
    return kept;
  }, "odd");
  const auto ready = even.add(numbered(5));
  REQUIRE(ready.size() == 1);
  CHECK(numbers_of(ready[0]) == numbers{0, 2, 4});
  CHECK(lost_in(ready[0]) == names{"0:1", "0:3"});
  CHECK(ready[0].tombstones()[0].reason == "odd");
  CHECK(count_of(ready[0]) == 5);
  CHECK(even.held() == 0);
}

TEST_CASE("a filter that says of other rows than there are is refused") {
  twinkle::filter_rows wrong([](const batch&) { return std::vector<bool>(2, true); }, "x");
  CHECK_THROWS_WITH_AS((void)wrong.add(numbered(3)), "filter: the function says of 2 rows whether they are kept; there are 3",
                       twinkle::error);
}

TEST_CASE("case K-F2: after a filter rebatch(2) ends with one real row, or goes on to the next where it refills") {
  const batch half = numbered(2).drop(rows{1}, "rejected");
  rebatch fewer(2, false);
  const auto ended = fewer.add(half);
  REQUIRE(ended.size() == 1);
  CHECK(numbers_of(ended[0]) == numbers{0});
  CHECK(ended[0].tombstone_count() == 1);

  rebatch refilled(2, false, true);
  CHECK(refilled.add(half).empty());
  CHECK(refilled.held() == 2);
  const auto whole = refilled.add(numbered(2, 2));
  REQUIRE(whole.size() == 1);
  CHECK(numbers_of(whole[0]) == numbers{0, 2});
  CHECK(lost_in(whole[0]) == names{"0:1"});
  CHECK(counts(refilled.end()) == rows{1});
}

TEST_CASE("a refilled batch of whole groups counts their real rows") {
  rebatch refilled(4, true, true);
  const batch groups = children(numbered(3), 2).drop(rows{0}, "bad");
  CHECK(counts(refilled.add(groups)) == rows{4});  // three real rows: a group of two more would pass four
  CHECK(counts(refilled.end()) == rows{2});
}

TEST_CASE("in any order groups leave as they are complete") {
  group_by_parent groups(true);
  const batch all = children(numbered(2), 2);
  CHECK(groups.add(all.take(rows{0})).empty());
  const auto ready = groups.add(all.take(rows{2, 3}));
  REQUIRE(ready.size() == 1);
  CHECK(names_of(ready[0]) == names{"0:1/0", "0:1/1"});
  CHECK(groups.held() == 1);
}
