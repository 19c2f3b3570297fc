// SPDX-License-Identifier: Apache-2.0
#include "twinkle/base/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

using twinkle::derive;
using twinkle::generator;
using twinkle::permutation;

TEST_CASE("the generator gives the numbers of splitmix64 on every machine") {
  generator random{1234567};
  CHECK(random.next() == 6457827717110365317ULL);
  CHECK(random.next() == 3203168211198807973ULL);
  CHECK(random.next() == 9817491932198370423ULL);
}

TEST_CASE("numbers below a bound stay below it and reach all of it") {
  generator random{1};
  std::array<int, 6> seen{};
  for (int draw = 0; draw < 600; ++draw)
    ++seen.at(random.below(6));
  CHECK(*std::min_element(seen.begin(), seen.end()) > 60);
  CHECK(random.below(1) == 0);
  CHECK(random.below(UINT64_MAX) < UINT64_MAX);
}

TEST_CASE("uniform numbers lie in [0, 1) and around one half") {
  generator random{2};
  double sum = 0;
  for (int draw = 0; draw < 1000; ++draw) {
    const double number = random.uniform();
    REQUIRE(number >= 0);
    REQUIRE(number < 1);
    sum += number;
  }
  CHECK(sum / 1000 == doctest::Approx(0.5).epsilon(0.05));
}

TEST_CASE("seeds of two purposes, and of two seeds, are different") {
  CHECK(derive(7, "epoch 1") == derive(7, "epoch 1"));
  CHECK(derive(7, "epoch 1") != derive(7, "epoch 2"));
  CHECK(derive(7, "epoch 1") != derive(8, "epoch 1"));
}

TEST_CASE("a permutation holds every number once, and is drawn from the seed") {
  generator first{5};
  generator again{5};
  generator other{6};
  const std::vector<std::size_t> order = permutation(100, first);
  CHECK(permutation(100, again) == order);
  CHECK(permutation(100, other) != order);
  std::vector<std::size_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t at = 0; at < sorted.size(); ++at)
    CHECK(sorted[at] == at);
  CHECK(permutation(0, first).empty());
}
