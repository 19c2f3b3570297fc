// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/identity.hpp"

#include <doctest/doctest.h>

#include "twinkle/base/error.hpp"

using twinkle::child_of;
using twinkle::descends;
using twinkle::identity;
using twinkle::parent_of;
using twinkle::random_of;

TEST_CASE("an identity reads as source, sequence and path") {
  const identity prompt{.source = 0, .sequence = 17};
  CHECK(to_string(prompt) == "0:17");
  CHECK(to_string(child_of(prompt, 3, 8)) == "0:17/3");
  CHECK(to_string(child_of(child_of(prompt, 3, 8), 0, 2)) == "0:17/3/0");
}

TEST_CASE("the parent of a child is the row it came from") {
  const identity prompt{.source = 2, .sequence = 5};
  const identity sample = child_of(prompt, 1, 4);
  CHECK(parent_of(sample) == prompt);
  CHECK(parent_of(child_of(sample, 0, 1)) == sample);
}

TEST_CASE("a row descends from itself and from those above it, and from no other") {
  const identity prompt{.source = 2, .sequence = 5};
  const identity sample = child_of(prompt, 1, 4);
  const identity turn = child_of(sample, 0, 2);
  CHECK(descends(prompt, prompt));
  CHECK(descends(turn, prompt));
  CHECK(descends(turn, sample));
  CHECK_FALSE(descends(prompt, sample));
  CHECK_FALSE(descends(turn, child_of(prompt, 2, 4)));
  CHECK_FALSE(descends(sample, {.source = 1, .sequence = 5}));
  CHECK_FALSE(descends(sample, {.source = 2, .sequence = 6}));
}

TEST_CASE("a row that lies as deep as can be is not expanded again") {
  identity id{.source = 0, .sequence = 9};
  for (std::size_t depth = 0; depth < identity::depth_max; ++depth)
    id = child_of(id, 0, 1);
  CHECK_THROWS_WITH_AS((void)child_of(id, 0, 1),
                       "row 0:9/0/0/0 lies 3 expansions deep, which is the most; it cannot be expanded again",
                       twinkle::error);
}

TEST_CASE("rows are ordered by source, and siblings by index") {
  const identity prompt{.source = 0, .sequence = 1};
  CHECK(child_of(prompt, 0, 4) < child_of(prompt, 1, 4));
  CHECK(prompt < identity{.source = 0, .sequence = 2});
  CHECK(prompt < identity{.source = 1, .sequence = 0});
}

TEST_CASE("the numbers of a row depend on who it is, the purpose and the seed alone") {
  const identity row = child_of({.source = 0, .sequence = 3}, 1, 8);
  CHECK(random_of(7, row, "sample").next() == random_of(7, row, "sample").next());
  CHECK(random_of(7, row, "sample").next() != random_of(8, row, "sample").next());
  CHECK(random_of(7, row, "sample").next() != random_of(7, row, "dropout").next());
  CHECK(random_of(7, row, "sample").next() != random_of(7, parent_of(row), "sample").next());
  CHECK(random_of(7, row, "sample").next() !=
        random_of(7, child_of({.source = 0, .sequence = 3}, 2, 8), "sample").next());
}
