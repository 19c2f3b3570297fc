// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/padding_plan.hpp"

#include <doctest/doctest.h>

#include "twinkle/base/error.hpp"

using twinkle::padding_plan;
using twinkle::plan_padding;
using rows = std::vector<std::size_t>;

TEST_CASE("case K-D3: copies are cyclic and stand behind the real rows") {
  const padding_plan plan = plan_padding(3, 8);
  CHECK(plan.rows == rows{0, 1, 2, 0, 1, 2, 0, 1});
  CHECK(plan.real == 3);
  CHECK_FALSE(plan.copy(2));
  CHECK(plan.copy(3));
}

TEST_CASE("case K-M5: 3 rows on 4 data ranks need one copy") { CHECK(plan_padding(3, 4).rows == rows{0, 1, 2, 0}); }

TEST_CASE("a batch that is large enough stays as it is") {
  CHECK(plan_padding(4, 4) == padding_plan{{0, 1, 2, 3}, 4});
  CHECK(plan_padding(5, 4) == padding_plan{{0, 1, 2, 3, 4}, 5});
  CHECK(plan_padding(0, 0) == padding_plan{});
}

TEST_CASE("no rows cannot be copied") {
  CHECK_THROWS_WITH_AS(plan_padding(0, 4),
                       "padding: there is no row to copy, and 4 are needed; allow empty parts instead",
                       twinkle::error);
}
