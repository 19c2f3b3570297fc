// SPDX-License-Identifier: Apache-2.0
#include "twinkle/sim/shrink.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "for_all.hpp"
#include "twinkle/base/digest.hpp"

using namespace std::chrono_literals;
using twinkle::sim::mishap;
using twinkle::sim::shrink;
using mishaps = std::vector<mishap>;

namespace {

using numbers = std::set<std::size_t>;

// Told apart by the number of their worker.
mishaps list_of(std::size_t count) {
  mishaps made;
  for (std::size_t worker = 0; worker < count; ++worker)
    made.push_back({.at = 1234ms * worker, .what = mishap::kind::dies, .stage = "sampler", .worker = worker, .lasts = 7s});
  return made;
}

numbers numbers_of(const mishaps& of) {
  numbers found;
  for (const mishap& each : of)
    found.insert(each.worker);
  return found;
}

bool has(const mishaps& given, const numbers& needed) {
  const numbers there = numbers_of(given);
  return std::includes(there.begin(), there.end(), needed.begin(), needed.end());
}

}  // namespace

TEST_CASE("of 9 mishaps the 2 that are needed are found, whichever they are") {
  for (std::size_t a = 0; a < 9; ++a)
    for (std::size_t b = a + 1; b < 9; ++b) {
      const auto found = shrink(list_of(9), [&](const mishaps& given) { return has(given, {a, b}); });
      CHECK(numbers_of(found.mishaps) == numbers{a, b});
      CHECK(found.mishaps.size() == 2);
      CHECK(found.smallest);
    }
}

TEST_CASE("what fails without any mishap is left with none") {
  CHECK(shrink(list_of(5), [](const mishaps&) { return true; }).mishaps.empty());
}

TEST_CASE("a list that is shrunk still fails, and holds without any one of its mishaps, whatever the failure needs") {
  for_all([] {
    const auto salt = *rc::gen::arbitrary<std::uint64_t>();
    const auto count = *rc::gen::inRange<std::size_t>(0, 12);
    const mishaps all = list_of(count);
    // Not even monotonous: more mishaps may heal what fewer break.
    const auto fails = [&](const mishaps& given) {
      twinkle::digest of;
      of.add(salt);
      for (const std::size_t each : numbers_of(given))
        of.add(each);
      return given.size() == count || of.value() % 3 == 0;
    };
    const auto found = shrink(all, fails, 10'000);
    RC_ASSERT(found.smallest);
    RC_ASSERT(fails(found.mishaps));
    for (std::size_t without = 0; without < found.mishaps.size(); ++without) {
      mishaps rest = found.mishaps;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(without));
      RC_ASSERT(!fails(rest));
    }
  });
}

TEST_CASE("what is left becomes short, early, round and mild, as far as it still fails") {
  const mishaps given{{.at = 41'234'567us, .what = mishap::kind::slows, .stage = "sampler", .factor = 9.5, .lasts = 8'765ms}};
  SUBCASE("to the end where nothing of it matters") {
    const auto found = shrink(given, [](const mishaps& left) { return !left.empty(); });
    CHECK(found.mishaps == mishaps{{.what = mishap::kind::slows, .stage = "sampler", .factor = 2, .lasts = 1ms}});
  }
  SUBCASE("to what is needed") {
    const auto found = shrink(given, [](const mishaps& left) {
      return !left.empty() && left[0].at >= 3s && left[0].lasts >= 700ms && left[0].factor >= 4;
    });
    CHECK(found.mishaps ==
          mishaps{{.at = 5s, .what = mishap::kind::slows, .stage = "sampler", .factor = 4, .lasts = 1s}});
  }
}

TEST_CASE("no more runs are made than allowed, and the list that is found still fails") {
  const auto fails = [](const mishaps& given) { return has(given, {1, 7, 30}); };
  for (std::size_t runs_max = 0; runs_max < 60; ++runs_max) {
    std::size_t asked = 0;
    const auto found = shrink(
        list_of(40), [&](const mishaps& given) { return ++asked, fails(given); }, runs_max);
    CHECK(found.runs == asked);
    CHECK(asked <= runs_max);
    CHECK(fails(found.mishaps));
  }
  CHECK_FALSE(shrink(list_of(40), fails, 10).smallest);
}
