// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>

#include "toy.hpp"
#include "twinkle/sim/simulate.hpp"

namespace tk = twinkle;

namespace {

struct seen_result {
  std::vector<std::uint64_t> digests;
  std::vector<double> weights;
  std::vector<double> places;
  std::vector<std::int64_t> staleness;

  friend bool operator==(const seen_result&, const seen_result&) = default;
};

seen_result result_of(const tk::sim::outcome& seen) {
  seen_result found;
  for (const tk::step_record& step : seen.steps) {
    found.digests.push_back(step.digest);
    found.weights.push_back(step.values.find("weight").value());
    found.places.push_back(step.values.find("place").value());
    found.staleness.push_back(step.staleness_max);
  }
  return found;
}

}  // namespace

TEST_CASE("the toy pipeline trains the same rows to the same weights, whatever order things happen in") {
  std::set<std::uint64_t> histories;
  const tk::sim::outcome first = tk::sim::simulate(toy::pipeline(), {.seed = 1});
  REQUIRE(first.ended);
  CHECK(toy::why(first.report) == "");
  CHECK(first.steps.size() == 6);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const tk::sim::outcome seen = tk::sim::simulate(toy::pipeline(), {.seed = seed});
    REQUIRE(seen.ended);
    CHECK(result_of(seen) == result_of(first));
    CHECK(seen.violations == std::vector<tk::sim::violation>{});
    histories.insert(seen.history);
  }
  CHECK(histories.size() >= 100);
}

TEST_CASE("a seed that repeats gives the same history") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    CHECK(tk::sim::simulate(toy::pipeline(), {.seed = seed}).history ==
          tk::sim::simulate(toy::pipeline(), {.seed = seed}).history);
}

TEST_CASE("no row is trained beyond its staleness bound, and the bound is used") {
  for (std::size_t bound = 0; bound <= 3; ++bound) {
    const auto seen = tk::sim::simulate(toy::pipeline({.steps = 8, .bound = bound}));
    REQUIRE(seen.ended);
    REQUIRE(seen.steps.size() == 8);
    std::int64_t most = 0;
    for (const tk::step_record& step : seen.steps)
      most = std::max(most, step.staleness_max);
    CHECK(most == static_cast<std::int64_t>(bound));
  }
}

TEST_CASE("another number of samplers trains the same rows in the same order") {
  const auto four = tk::sim::simulate(toy::pipeline());
  const auto two = tk::sim::simulate(toy::pipeline({.samplers = 2}));
  CHECK(result_of(four) == result_of(two));
}

TEST_CASE("a source that ends ends the run, and the last batch holds what is left") {
  const auto seen = tk::sim::simulate(toy::pipeline({.batches = 5, .steps = 0}));
  REQUIRE(seen.ended);
  CHECK(toy::why(seen.report) == "");
  CHECK(seen.steps.size() == 5);
  CHECK(seen.report.emitted == 40);
  CHECK(seen.report.trained == 80);
  CHECK(seen.report.returned == 0);
}

TEST_CASE("every subscriber sees the first and the last version, and each n-th between") {
  const auto seen = tk::sim::simulate(toy::pipeline());
  std::vector<std::int64_t> versions;
  for (const auto& each : seen.grades)
    versions.push_back(each.version);
  CHECK(versions == std::vector<std::int64_t>{0, 4, 6});
}
