// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "numbered.hpp"
#include "twinkle/flow/collected.hpp"

using namespace flow_test;
using twinkle::batch;
using twinkle::interval;
using twinkle::route::rows_by_parent;
using names = std::vector<std::string>;
using rows = std::vector<std::size_t>;

namespace {

batch right(const batch& given, const batch& value) {
  auto found = rows_by_parent(given, value);
  INFO((std::holds_alternative<std::string>(found) ? std::get<std::string>(found) : ""));
  REQUIRE(std::holds_alternative<batch>(found));
  return std::get<batch>(found);
}

std::string wrong(const batch& given, const batch& value) {
  auto found = rows_by_parent(given, value);
  REQUIRE(std::holds_alternative<std::string>(found));
  return std::get<std::string>(found);
}

}  // namespace

TEST_CASE("rows without identities take those that were given, if they are as many") {
  const batch value = right(numbered(3, 5), plain(3, 100));
  CHECK(numbers_of(value) == numbers{100, 101, 102});
  CHECK(names_of(value) == names{"0:5", "0:6", "0:7"});
}

TEST_CASE("rows that changed in number without parents are refused with both numbers and the way out") {
  CHECK(wrong(numbered(3), plain(2)) ==
        "it returned 2 rows for 3 without saying whose they are; build them from in.expand(parents), or from "
        "in.drop(rows, reason)");
  CHECK(wrong(numbered(0), plain(1)).starts_with("it returned 1 rows for 0 "));
  CHECK(wrong(numbered(1), batch{}).starts_with("it returned 0 rows for 1 "));
}

TEST_CASE("rows that descend from none given are refused by name") {
  CHECK(wrong(numbered(3), numbered(3, 1)) ==
        "it returned row 0:3, which descends from none of the rows that it was given");
  CHECK(wrong(numbered(0), numbered(1, 4)) ==
        "it returned row 0:4, which descends from none of the rows that it was given");
  const batch pairs = children(numbered(2), 2);
  CHECK(wrong(pairs[interval{0, 2}], pairs[interval{0, 3}]) ==
        "it returned row 0:1/0, which descends from none of the rows that it was given");
  // A parent is no descendant of its children, nor is a child of the same number in a group of another size.
  CHECK(wrong(pairs, numbered(2)).starts_with("it returned row 0:0, "));
  CHECK(wrong(pairs, children(numbered(2), 3)).starts_with("it returned row 0:0/0, "));
}

TEST_CASE("rows returned twice are refused by name") {
  const batch given = numbered(3);
  CHECK(wrong(given, given.take(rows{0, 1, 1, 2})) == "it returned row 0:1 twice");
  const batch pairs = children(given, 2);
  CHECK(wrong(given, pairs.take(rows{0, 1, 2, 3, 4, 5, 0})) == "it returned row 0:0/0 twice");
}

TEST_CASE("rows that are lost without a tombstone are refused by name") {
  const batch given = numbered(3);
  CHECK(wrong(given, given.take(rows{0, 2})) ==
        "it returned nothing for row 0:1; use in.drop(rows, reason) for rows that are to be dropped");
  CHECK(wrong(given, given[interval{0, 2}]).starts_with("it returned nothing for row 0:2; "));
}

TEST_CASE("children that are lost without a tombstone are refused: their group would never be whole") {
  const batch given = numbered(3);
  const batch pairs = children(given, 2);
  CHECK(wrong(given, pairs.take(rows{0, 1, 2, 4, 5})) ==
        "it returned 1 of the 2 children of row 0:1; use in.drop(rows, reason) for rows that are to be dropped");
  const batch deeper = children(pairs, 3);
  CHECK(wrong(given, deeper[interval{0, 17}]).starts_with("it returned 2 of the 3 children of row 0:2/1; "));
  CHECK(wrong(given, deeper[interval{0, 15}]).starts_with("it returned 1 of the 2 children of row 0:2; "));
  // Rows that came in as some of their siblings are whole by themselves.
  CHECK(right(pairs[interval{1, 4}], pairs[interval{1, 4}].take(rows{2, 1, 0})).rows() == 3);
}

TEST_CASE("dropped rows are accounted for by their tombstones") {
  const batch given = numbered(3);
  const batch value = right(given, given.drop(rows{0, 1, 2}, "all bad"));
  CHECK(value.rows() == 0);
  CHECK(lost_in(value) == names{"0:0", "0:1", "0:2"});
  const batch some = right(given, children(given, 2).drop(rows{1, 2, 3}, "bad"));
  CHECK(names_of(some) == names{"0:0/0", "0:2/0", "0:2/1"});
  CHECK(lost_in(some) == names{"0:0/1", "0:1/0", "0:1/1"});
}

TEST_CASE("rows in another order are put back into that of their parents, with their columns") {
  const batch given = numbered(4, 10);
  const batch value = right(given, given.take(rows{2, 0, 3, 1}));
  CHECK(numbers_of(value) == numbers{10, 11, 12, 13});
  CHECK(names_of(value) == names{"0:10", "0:11", "0:12", "0:13"});
  CHECK(numbers_of(right(given.take(rows{3, 0, 2, 1}), given)) == numbers{13, 10, 12, 11});
}

TEST_CASE("children of one parent stay in the order in which they were returned") {
  const batch given = numbered(3);
  const batch value = right(given, children(given, 2).take(rows{5, 1, 2, 0, 3, 4}));
  CHECK(names_of(value) == names{"0:0/1", "0:0/0", "0:1/0", "0:1/1", "0:2/1", "0:2/0"});
}

TEST_CASE("rows may be expanded by different numbers, and more than once") {
  const batch given = numbered(3);
  const batch uneven = given.expand(rows{0, 0, 0, 2});
  CHECK(names_of(right(given, uneven)) == names{"0:0/0", "0:0/1", "0:0/2", "0:2/0"});
  CHECK(lost_in(right(given, uneven)) == names{"0:1"});
  const batch deep = children(children(given, 2), 2);
  CHECK(right(given, deep).rows() == 12);
  CHECK(right(children(given, 2), deep).rows() == 12);
}

TEST_CASE("rows of two sources with the same numbers are not mistaken for each other") {
  std::vector<twinkle::row_tag> tags(2);
  tags[0].id.source = 1;
  tags[1].id.source = 0;
  const batch given = plain(2).with_tags(tags);
  CHECK(numbers_of(right(given, given.take(rows{1, 0}))) == numbers{0, 1});
  CHECK(wrong(given[interval{0, 1}], given[interval{1, 2}]).starts_with("it returned row 0:0, "));
}

TEST_CASE("rows that came without identities may not return with some") {
  CHECK(wrong(plain(2), numbered(2)) == "it returned rows with identities for rows that have none");
  CHECK(numbers_of(right(plain(2), plain(2, 7))) == numbers{7, 8});
}
