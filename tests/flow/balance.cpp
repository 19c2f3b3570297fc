// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "twinkle/base/error.hpp"
#include "twinkle/flow/split.hpp"

using twinkle::balance;
using twinkle::interval;
using twinkle::mini_batches;
using twinkle::split;
using costs = std::vector<std::uint64_t>;
using rows = std::vector<std::size_t>;
using parts = std::vector<rows>;

namespace {

rows counts_of(const split& made) {
  rows counts;
  for (const rows& part : made.parts)
    counts.push_back(part.size());
  return counts;
}

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

}  // namespace

TEST_CASE("case K-D6: equal counts put as many rows in each part, and costs as even as that allows") {
  const split two = balance(costs{10, 1, 1, 1, 1, 10}, 2);
  CHECK(counts_of(two) == rows{3, 3});
  CHECK(two.costs == costs{12, 12});
  CHECK(balance(costs{100, 1, 1, 1}, 2).costs == costs{101, 2});
  CHECK(counts_of(balance(costs(206, 7), 4)) == rows{52, 52, 51, 51});
}

TEST_CASE("case K-D6: free counts give a heavy row a part of its own") {
  const split made = balance(costs{100, 1, 1, 1}, 2, {.equal_counts = false});
  CHECK(made.parts == parts{{0}, {1, 2, 3}});
  CHECK(made.costs == costs{100, 3});
}

TEST_CASE("parts come in the order of their first rows, with rows ascending in each") {
  const split made = balance(costs{1, 1, 1, 100, 1}, 2, {.equal_counts = false});
  CHECK(made.parts == parts{{0, 1, 2, 4}, {3}});
  CHECK(made.costs == costs{4, 100});
  CHECK(made.oversize.empty());
}

TEST_CASE("the longer parts of equal counts come first, even if the heavy rows are at the end") {
  CHECK(counts_of(balance(costs{1, 1, 1, 1, 1, 50, 60}, 3)) == rows{3, 2, 2});
  CHECK(counts_of(balance(costs{9, 8, 1, 1, 1, 1, 1, 1}, 3)) == rows{3, 3, 2});
}

TEST_CASE("exchanges even out what placing the heaviest first leaves") {
  // Placed: 3+2+2 and 3+2.
  CHECK(balance(costs{3, 3, 2, 2, 2}, 2, {.equal_counts = false}).costs == costs{6, 6});
}

TEST_CASE("rows of no cost are shared out too") {
  CHECK(counts_of(balance(costs(6, 0), 3, {.equal_counts = false})) == rows{2, 2, 2});
  CHECK(counts_of(balance(costs{5, 0, 0, 0}, 3, {.equal_counts = false}))[0] >= 1);
  CHECK(balance(costs{5, 0, 0}, 3, {.equal_counts = false}).parts == parts{{0}, {1}, {2}});
}

TEST_CASE("one part has all rows, and as many parts as rows have one each") {
  CHECK(balance(costs{3, 1, 2}, 1).parts == parts{{0, 1, 2}});
  CHECK(balance(costs{3, 1, 2}, 3).parts == parts{{0}, {1}, {2}});
}

TEST_CASE("rows of one group stay in one part, wherever they stand") {
  const costs rows_cost{5, 5, 1, 1, 8, 2, 2};
  const costs groups{7, 7, 9, 9, 3, 9, 9};
  const split made = balance(rows_cost, 2, {.equal_counts = false, .groups = groups});
  CHECK(made.parts == parts{{0, 1}, {2, 3, 4, 5, 6}});
  CHECK(made.costs == costs{10, 14});
}

TEST_CASE("equal counts of groups are counted in groups") {
  const costs groups{1, 1, 2, 2, 3, 3, 4, 4};
  const split made = balance(costs{50, 50, 1, 1, 1, 1, 1, 1}, 2, {.equal_counts = true, .groups = groups});
  CHECK(counts_of(made) == rows{4, 4});
  CHECK(made.costs == costs{102, 4});
}

TEST_CASE("fewer rows than parts are refused with both numbers, or leave the last parts empty where that is allowed") {
  CHECK_THROWS_WITH_AS(balance(costs{1, 1, 1}, 4),
                       "balance: 3 rows are fewer than the 4 parts; give more, pad them, or allow empty parts",
                       twinkle::error);
  CHECK_THROWS_WITH_AS(balance(costs{1, 1, 1}, 2, {.groups = costs{5, 5, 5}}),
                       "balance: 1 groups are fewer than the 2 parts; give more, pad them, or allow empty parts",
                       twinkle::error);
  for (const bool equal : {true, false}) {
    const split made = balance(costs{1, 9, 1}, 4, {.equal_counts = equal, .allow_empty = true});
    CHECK(made.parts == parts{{0}, {1}, {2}, {}});
    CHECK(made.costs == costs{1, 9, 1, 0});
  }
  CHECK(balance(costs{}, 2, {.allow_empty = true}).parts == parts{{}, {}});
}

TEST_CASE("a number of parts that no mesh has is refused before anything is made of it") {
  CHECK_THROWS_WITH_AS(balance(costs{1}, 0), "balance: 0 parts; there must be 1 or more", twinkle::error);
  CHECK_THROWS_WITH_AS(balance(costs{1}, std::size_t{1} << 60, {.allow_empty = true}),
                       "balance: 1152921504606846976 parts; there can be at most 1048576", twinkle::error);
}

TEST_CASE("costs that cannot be added up are refused by row") {
  CHECK(balance(costs{most - 1, 1}, 2).costs == costs{most - 1, 1});
  CHECK_THROWS_WITH_AS(balance(costs{most, 0, 1}, 2),
                       "balance: with row 2, which costs 1, the costs add up to 2^64 or more; "
                       "count them in a larger unit",
                       twinkle::error);
}

TEST_CASE("groups of some rows only are refused with both counts") {
  CHECK_THROWS_WITH_AS(balance(costs{1, 1, 1}, 2, {.groups = costs{4, 4}}),
                       "balance: 3 rows have costs, but 2 have a group; give one for each row, or none",
                       twinkle::error);
}

TEST_CASE("case K-D11: mini-batches are cut from the whole batch and lose no row") {
  CHECK(mini_batches(10, 4) == std::vector<interval>{{0, 4}, {4, 8}, {8, 10}});
  CHECK(mini_batches(8, 4, true) == std::vector<interval>{{0, 4}, {4, 8}});
  CHECK(mini_batches(3, most) == std::vector<interval>{{0, 3}});
  CHECK(mini_batches(0, 4).empty());
}

TEST_CASE("case K-D11: where full mini-batches are demanded, a rest is refused") {
  CHECK_THROWS_WITH_AS(mini_batches(10, 4, true),
                       "mini-batches: 10 rows do not make full mini-batches of 4, the last would have 2; choose a size "
                       "that divides them, or allow a last one that is not full",
                       twinkle::error);
  CHECK_THROWS_WITH_AS(mini_batches(10, 0), "mini-batches: the size is 0; it must be 1 or more", twinkle::error);
}
