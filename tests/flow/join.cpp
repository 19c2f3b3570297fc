// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/join.hpp"

#include <doctest/doctest.h>

#include "numbered.hpp"
#include "twinkle/base/error.hpp"

using namespace flow_test;
using twinkle::batch;
using twinkle::interval;
using names = std::vector<std::string>;
using rows = std::vector<std::size_t>;

namespace {

constexpr twinkle::column<double> score{"score"};

batch scored(const batch& of) {
  std::vector<double> values;
  for (const std::int64_t each : numbers_of(of))
    values.push_back(0.5 * static_cast<double>(each));
  return of.with(score, values);
}

}  // namespace

TEST_CASE("rows of both sides come together by identity, in the batches of the first, whoever is earlier") {
  twinkle::join both;
  const batch all = numbered(5);
  CHECK(both.add(1, scored(all.take(rows{3, 0}))).empty());
  CHECK(both.add(0, all[interval{0, 2}]).empty());
  CHECK(both.held() == 4);
  const auto first = both.add(1, scored(all.take(rows{1})));
  REQUIRE(first.size() == 1);
  CHECK(numbers_of(first[0]) == numbers{0, 1});
  CHECK(first[0][score][1] == 0.5);
  CHECK(both.add(0, all[interval{2, 5}]).empty());
  const auto rest = both.add(1, scored(all.take(rows{4, 2})));
  REQUIRE(rest.size() == 1);
  CHECK(numbers_of(rest[0]) == numbers{2, 3, 4});
  CHECK(rest[0][score][2] == 2.0);
  CHECK(both.held() == 0);
  CHECK(both.received(0) == 5);
  CHECK(both.received(1) == 5);
}

TEST_CASE("a row that was dropped on either side is a tombstone, once") {
  twinkle::join both;
  const batch all = numbered(4);
  CHECK(both.add(0, all.drop(rows{0, 1}, "left")).empty());
  const auto ready = both.add(1, scored(all).drop(rows{1, 2}, "right"));
  REQUIRE(ready.size() == 1);
  CHECK(numbers_of(ready[0]) == numbers{3});
  auto lost = lost_in(ready[0]);
  std::sort(lost.begin(), lost.end());
  CHECK(lost == names{"0:0", "0:1", "0:2"});
}

TEST_CASE("columns that both have are those of the first, and a row is as old as the older side says") {
  twinkle::join both;
  const batch left = numbered(1);
  std::vector<twinkle::row_tag> tags(left.tags().begin(), left.tags().end());
  tags[0].version = 4;
  CHECK(both.add(0, left.with_tags(tags)).empty());
  tags[0].version = 3;
  const auto ready = both.add(1, plain(1, 77).with(score, {1.0}).with_tags(tags));
  REQUIRE(ready.size() == 1);
  CHECK(numbers_of(ready[0]) == numbers{0});
  CHECK(ready[0].tags()[0].version == 3);
}

TEST_CASE("rows that come twice, without identities, or on one side only are told") {
  twinkle::join both;
  CHECK_THROWS_WITH_AS((void)both.add(1, plain(1)), "zip: rows without identities cannot be matched", twinkle::error);
  CHECK(both.add(1, numbered(1, 3)).empty());
  CHECK_THROWS_WITH_AS((void)both.add(1, numbered(1, 3)), "zip: row 0:3 came twice", twinkle::error);
  CHECK(both.lonely() == "row 0:3 came on one side only");
}
