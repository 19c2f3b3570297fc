// SPDX-License-Identifier: Apache-2.0
#include "twinkle/sim/mishap.hpp"

#include <doctest/doctest.h>

using namespace std::chrono_literals;
using twinkle::sim::mishap;

TEST_CASE("a mishap reads as one says it") {
  using kind = mishap::kind;
  CHECK(to_string(mishap{.at = 5s, .what = kind::dies, .stage = "sampler", .worker = 2, .lasts = 1s}) ==
        "at 5.000s sampler[2] dies, and is back after 1.000s");
  CHECK(to_string(mishap{.at = 5s, .what = kind::hangs, .stage = "judge"}) == "at 5.000s judge[0] hangs");
  CHECK(to_string(mishap{.at = 2s, .what = kind::slows, .stage = "sampler", .factor = 2.5, .lasts = 1s}) ==
        "at 2.000s sampler[0] is 2.5 times as slow for 1.000s");
  CHECK(to_string(mishap{.at = 1s, .what = kind::cut, .node = "a", .other = "b", .lasts = 3s}) ==
        "at 1.000s a and b are cut off from each other for 3.000s");
}
