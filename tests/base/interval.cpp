// SPDX-License-Identifier: Apache-2.0
#include "twinkle/base/interval.hpp"

#include <doctest/doctest.h>

using twinkle::even_part;
using twinkle::interval;
using twinkle::intersect;

TEST_CASE("an interval holds its first and not its end") {
  const interval rows{3, 5};
  CHECK(rows.size() == 2);
  CHECK_FALSE(rows.contains(2));
  CHECK(rows.contains(3));
  CHECK(rows.contains(4));
  CHECK_FALSE(rows.contains(5));
  CHECK(to_string(rows) == "[3,5)");
  CHECK(interval{4, 4}.empty());
}

TEST_CASE("intervals that overlap share the part in common, others share nothing") {
  CHECK(intersect({0, 5}, {3, 9}) == interval{3, 5});
  CHECK(intersect({3, 9}, {0, 5}) == interval{3, 5});
  CHECK(intersect({0, 9}, {3, 5}) == interval{3, 5});
  CHECK(intersect({0, 3}, {3, 5}).empty());
  CHECK(intersect({0, 2}, {4, 5}).empty());
  CHECK(intersect({4, 5}, {0, 2}).empty());
}

TEST_CASE("even parts give the longer ones to the first") {
  CHECK(even_part(7, 4, 0) == interval{0, 2});
  CHECK(even_part(7, 4, 1) == interval{2, 4});
  CHECK(even_part(7, 4, 2) == interval{4, 6});
  CHECK(even_part(7, 4, 3) == interval{6, 7});
}

TEST_CASE("parts of fewer rows than parts are empty at the end") {
  CHECK(even_part(2, 4, 1) == interval{1, 2});
  CHECK(even_part(2, 4, 2) == interval{2, 2});
  CHECK(even_part(0, 4, 3) == interval{0, 0});
}
