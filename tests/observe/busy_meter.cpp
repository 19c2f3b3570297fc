// SPDX-License-Identifier: Apache-2.0
#include "twinkle/observe/busy_meter.hpp"

#include <doctest/doctest.h>

using namespace std::chrono_literals;
using twinkle::busy_meter;
using durations = std::vector<twinkle::duration>;

TEST_CASE("a stage is busy while at least one of its bodies runs") {
  busy_meter meter{2};
  meter.begin(0, 1s);
  meter.begin(0, 2s);
  meter.end(0, 4s);
  meter.end(0, 7s);
  meter.begin(1, 9s);
  meter.end(1, 10s);
  const auto seen = meter.read(12s);
  CHECK(seen.busy == durations{6s, 1s});
  CHECK(seen.whole == 12s);
  CHECK(seen.idle == 5s);
}

TEST_CASE("time in which two stages run is not idle, and counts for both") {
  busy_meter meter{2};
  meter.begin(0, 0s);
  meter.begin(1, 2s);
  meter.end(0, 3s);
  meter.end(1, 5s);
  const auto seen = meter.read(5s);
  CHECK(seen.busy == durations{3s, 3s});
  CHECK(seen.idle == 0s);
}

TEST_CASE("a body that runs over a reading counts in both parts") {
  busy_meter meter{1};
  meter.begin(0, 1s);
  const auto first = meter.read(4s);
  CHECK(first.busy == durations{3s});
  CHECK(first.idle == 1s);
  CHECK(first.whole == 4s);
  meter.end(0, 6s);
  const auto second = meter.read(10s);
  CHECK(second.busy == durations{2s});
  CHECK(second.idle == 4s);
  CHECK(second.whole == 6s);
}

TEST_CASE("where nothing ran, all is idle") {
  busy_meter meter{3};
  const auto seen = meter.read(2s);
  CHECK(seen.busy == durations{0s, 0s, 0s});
  CHECK(seen.idle == 2s);
  CHECK(meter.read(2s).whole == 0s);
}
