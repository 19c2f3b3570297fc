// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "twinkle/base/error.hpp"
#include "twinkle/flow/split.hpp"

using twinkle::pack;
using twinkle::split;
using costs = std::vector<std::uint64_t>;
using rows = std::vector<std::size_t>;
using parts = std::vector<rows>;

TEST_CASE("case K-D7: the cap is never broken, whatever number of parts is asked for") {
  const split made = pack(costs{600, 600, 600, 100}, 1000, 2);
  CHECK(made.parts == parts{{0, 3}, {1}, {2}});
  CHECK(made.costs == costs{700, 600, 600});
  CHECK(made.oversize.empty());
}

TEST_CASE("case K-D7: a row above the cap sits alone and is flagged") {
  const split made = pack(costs{200, 1500, 300, 1001}, 1000);
  CHECK(made.parts == parts{{0, 2}, {1}, {3}});
  CHECK(made.costs == costs{500, 1500, 1001});
  CHECK(made.oversize == rows{1, 3});
  CHECK(pack(costs{1500}, 1000).oversize == rows{0});
  CHECK(pack(costs{1000}, 1000).oversize.empty());
}

TEST_CASE("rows of the very size of the cap have parts of their own") {
  CHECK(pack(costs{1000, 0, 1000}, 1000).parts.size() == 2);
  CHECK(pack(costs{500, 500, 500, 500}, 1000).parts.size() == 2);
}

TEST_CASE("parts that the cap does not ask for are filled evenly") {
  CHECK(pack(costs(10, 100), 1000, 5).costs == costs(5, 200));
  CHECK(pack(costs(10, 100), 900).costs == costs{500, 500});
}

TEST_CASE("more parts than the cap asks for are made even where filling evenly would break it") {
  const costs lengths{1248, 1316, 774, 1545, 1394, 752, 808, 763, 1327, 1414, 1675,
                      809,  1084, 999, 1611, 912,  1105, 995, 914, 1105, 849};
  CHECK(pack(lengths, 2794).parts.size() == 9);
  const auto most_of = [](const split& made) { return *std::max_element(made.costs.begin(), made.costs.end()); };
  CHECK(most_of(twinkle::balance(lengths, 10, {.equal_counts = false})) > 2794);
  CHECK(most_of(pack(lengths, 2794, 10)) <= 2794);
  CHECK(pack(lengths, 2794, 10).parts.size() == 10);
}

TEST_CASE("rows above the cap count among the parts asked for") {
  CHECK(pack(costs{1500, 100, 100}, 1000, 2).parts == parts{{0}, {1, 2}});
  CHECK(pack(costs{1500, 100, 100}, 1000, 3).parts == parts{{0}, {1}, {2}});
}

TEST_CASE("a cap in rows is a cap with costs of 1") {
  CHECK(pack(costs(5, 1), 2).parts.size() == 3);
}

TEST_CASE("rows of no cost go into one part unless more are asked for") {
  CHECK(pack(costs(4, 0), 1).parts == parts{{0, 1, 2, 3}});
  CHECK(pack(costs(4, 0), 1, 2).parts == parts{{0, 2}, {1, 3}});
}

TEST_CASE("caps, counts and costs that make no sense are refused with the values") {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  CHECK_THROWS_WITH_AS(pack(costs{1}, 0), "pack: the cap is 0; it must be 1 or more", twinkle::error);
  CHECK_THROWS_WITH_AS(pack(costs{1, 1}, 10, 3),
                       "pack: 2 rows are fewer than the 3 parts that there have to be at least; give more rows, or ask "
                       "for fewer parts",
                       twinkle::error);
  CHECK_THROWS_AS(pack(costs{most, most}, most), twinkle::error);
  CHECK(pack(costs{most}, most).parts.size() == 1);
  CHECK(pack(costs{}, 10, 0).parts.empty());
}
