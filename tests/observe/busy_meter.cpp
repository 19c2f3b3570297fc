// SPDX-License-Identifier: Apache-2.0
#include "twinkle/observe/busy_meter.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <utility>

#include "for_all.hpp"

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

TEST_CASE("of bodies in other processes, what ran at once is counted once") {
  busy_meter meter{2};
  meter.ended_elsewhere(0, 3s, 4s);    // [1, 4)
  meter.ended_elsewhere(0, 4s, 6s);    // [2, 6)
  meter.ended_elsewhere(0, 1s, 9s);    // [8, 9)
  meter.ended_elsewhere(0, 9s, 10s);   // [1, 10)
  meter.ended_elsewhere(1, 1s, 11s);   // [10, 11)
  const auto seen = meter.read(12s);
  CHECK(seen.busy == durations{9s, 1s});
  CHECK(seen.idle == 2s);
  meter.ended_elsewhere(0, 5s, 14s);
  CHECK(meter.read(15s).busy == durations{2s, 0s});  // the rest was before
}

TEST_CASE("whenever bodies in other processes end, they are counted as one that reports while it runs would be") {
  for_all([] {
    busy_meter elsewhere{1};
    busy_meter here{1};
    std::vector<std::pair<twinkle::time_point, bool>> edges;  // when one begins or ends
    const auto bodies = *rc::gen::container<std::vector<std::pair<int, int>>>(
        rc::gen::pair(rc::gen::inRange(0, 50), rc::gen::inRange(1, 50)));
    for (const auto& [from, ran] : bodies) {
      edges.emplace_back(from * 1s, true);
      edges.emplace_back((from + ran) * 1s, false);
    }
    std::stable_sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [when, begins] : edges)
      begins ? here.begin(0, when) : here.end(0, when);
    std::vector<std::pair<twinkle::time_point, twinkle::duration>> ends;
    for (const auto& [from, ran] : bodies)
      ends.emplace_back((from + ran) * 1s, ran * 1s);
    std::sort(ends.begin(), ends.end());
    for (const auto& [when, ran] : ends)
      elsewhere.ended_elsewhere(0, ran, when);
    const auto seen = elsewhere.read(100s);
    const auto expected = here.read(100s);
    RC_ASSERT(seen.busy == expected.busy);
    RC_ASSERT(seen.idle == expected.idle);
  });
}

TEST_CASE("where nothing ran, all is idle") {
  busy_meter meter{3};
  const auto seen = meter.read(2s);
  CHECK(seen.busy == durations{0s, 0s, 0s});
  CHECK(seen.idle == 2s);
  CHECK(meter.read(2s).whole == 0s);
}
