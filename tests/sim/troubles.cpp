// SPDX-License-Identifier: Apache-2.0
#include "twinkle/sim/troubles.hpp"

#include <doctest/doctest.h>

using namespace std::chrono_literals;
using twinkle::sim::mishap;
using twinkle::sim::troubles;
using kind = mishap::kind;

TEST_CASE("a body without troubles ends when it has lasted") {
  troubles none;
  CHECK(none.next(0, 0, 3s, 2s).ends == 5s);
}

TEST_CASE("a slow worker's bodies take longer while it is slow, and nobody else's") {
  troubles some;
  some.begin({.at = 1s, .what = kind::slows, .worker = 2, .factor = 2.5, .lasts = 4s}, 1);
  CHECK(some.next(1, 2, 2s, 1s).ends == 4500ms);
  CHECK(some.next(1, 2, 2s, 2s).ends == 5800ms);  // 1.2 s of it in the 3 s that are slow
  CHECK(some.next(1, 1, 2s, 2s).ends == 4s);
  CHECK(some.next(0, 2, 2s, 2s).ends == 4s);
  CHECK(some.next(1, 2, 5s, 2s).ends == 7s);
}

TEST_CASE("what befalls the next body befalls no other") {
  troubles some;
  some.begin({.what = kind::throws, .worker = 1}, 0);
  some.begin({.what = kind::hangs, .worker = 2}, 0);
  some.begin({.what = kind::drags, .worker = 3, .lasts = 1min}, 0);
  CHECK_FALSE(some.next(0, 1, 0s, 0s, false).throws);
  CHECK_FALSE(some.next(0, 2, 0s, 0s, false).hangs);
  CHECK(some.next(0, 1, 0s, 0s).throws);
  CHECK_FALSE(some.next(0, 1, 0s, 0s).throws);
  CHECK(some.next(0, 2, 0s, 0s).hangs);
  CHECK_FALSE(some.next(0, 2, 0s, 0s).hangs);
  CHECK(some.next(0, 3, 1s, 1s).ends == 62s);
  CHECK(some.next(0, 3, 1s, 1s).ends == 2s);
}

TEST_CASE("no body of a stalled stage begins before it is over") {
  troubles some;
  some.begin({.at = 1s, .what = kind::stalls, .lasts = 9s}, 3);
  some.begin({.at = 1s, .what = kind::stalls, .lasts = 2s}, 3);
  CHECK(some.next(3, 0, 2s, 1s).ends == 11s);
  CHECK(some.next(3, 5, 12s, 1s).ends == 13s);
  CHECK(some.next(2, 0, 2s, 1s).ends == 3s);
}
