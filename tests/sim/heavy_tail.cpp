// SPDX-License-Identifier: Apache-2.0
#include "twinkle/sim/heavy_tail.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace std::chrono_literals;
using twinkle::duration;
using twinkle::generator;
using twinkle::sim::heavy_tail;

namespace {

std::vector<duration> drawn(std::uint64_t seed, std::size_t count, duration median) {
  generator random{seed};
  std::vector<duration> times(count);
  for (duration& each : times)
    each = heavy_tail(random, median);
  return times;
}

}  // namespace

TEST_CASE("half of the times are below the median, and each doubling has half of those that are left") {
  const auto times = drawn(7, 20'000, 10ms);
  duration limit = 10ms;
  std::ptrdiff_t expected = 10'000;
  for (int octave = 0; octave < 6; ++octave) {
    const auto above = std::count_if(times.begin(), times.end(), [&](duration each) { return each >= limit; });
    CHECK(above > expected * 9 / 10);
    CHECK(above < expected * 11 / 10);
    limit *= 2;
    expected /= 2;
  }
  CHECK(*std::min_element(times.begin(), times.end()) >= 5ms);
  CHECK(*std::max_element(times.begin(), times.end()) < 640ms);
}

TEST_CASE("a seed gives the same times on every machine") {
  CHECK(drawn(1, 4, 1s) == std::vector<duration>{3821780235ns, 1143867045ns, 1046636950ns, 1533390784ns});
  CHECK(drawn(1, 2, 0s) == std::vector<duration>{0s, 0s});
}
