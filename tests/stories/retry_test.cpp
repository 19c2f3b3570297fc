// SPDX-License-Identifier: Apache-2.0
// A sampler that fails, now and then or for good, does not end the run: in simulation and on threads alike.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>

#include "toy.hpp"
#include "twinkle/runtime/session.hpp"
#include "twinkle/sim/simulate.hpp"

namespace tk = twinkle;
using namespace std::chrono_literals;

namespace {

/// One body of `sample` on a data rank goes wrong, the first that begins.
toy::sabotage once(std::size_t data_rank, std::function<void(tk::context&)> harm) {
  return [=, first = std::make_shared<std::atomic<bool>>(true)](tk::context& ctx, const std::string& at) {
    if (at == "sample" && ctx.data_rank() == data_rank && first->exchange(false))
      harm(ctx);
  };
}

void break_down(tk::context&) { throw std::runtime_error("planted"); }

std::vector<std::uint64_t> trained(const std::vector<tk::step_record>& steps) {
  std::vector<std::uint64_t> digests;
  for (const tk::step_record& each : steps)
    digests.push_back(each.digest);
  return digests;
}

struct steps_of final : tk::run_listener {
  void on_step(const tk::step_record& step) override { all.push_back(step); }
  void on_setback(const tk::fault& why, std::size_t) override { setbacks.push_back(to_string(why)); }

  std::vector<tk::step_record> all;
  std::vector<std::string> setbacks;
};

}  // namespace

TEST_CASE("a rollout that fails once is sampled by another, and the same rows are trained, under any schedule") {
  const auto whole = tk::sim::simulate(toy::pipeline());
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto seen =
        tk::sim::simulate(toy::pipeline({.harm = once(seed % 4, break_down), .retries = 1}), {.seed = seed});
    REQUIRE(seen.ended);
    CHECK(toy::why(seen.report) == "");
    CHECK(seen.violations.empty());
    CHECK(seen.report.setbacks == 1);
    CHECK(seen.report.lost == 0);
    CHECK(trained(seen.steps) == trained(whole.steps));
    for (const tk::step_record& each : seen.steps)
      CHECK(each.staleness_max <= 1);
  }
}

TEST_CASE("a rollout that fails once on threads is sampled by another, and the same rows are trained") {
  const auto whole = tk::sim::simulate(toy::pipeline());
  steps_of heard;
  const auto report = tk::run(toy::pipeline({.harm = once(2, break_down), .retries = 1}), {}, heard);
  CHECK(toy::why(report) == "");
  CHECK(trained(heard.all) == trained(whole.steps));
  REQUIRE(heard.setbacks.size() == 1);
  CHECK(heard.setbacks[0].starts_with("toy/sampler[dp=2]@local:gpu2 in sample, rows [4,6): planted"));
}

TEST_CASE("case K-F2: rows that are lost count for their step, which trains what is real and never waits") {
  toy::shape shape;
  shape.harm = once(1, break_down);
  shape.failed = tk::failing::drops_rows;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    shape.harm = once(1, break_down);
    const auto seen = tk::sim::simulate(toy::pipeline(shape), {.seed = seed});
    REQUIRE(seen.ended);
    CHECK(toy::why(seen.report) == "");
    CHECK(seen.violations.empty());
    CHECK(seen.report.lost == 2);
    REQUIRE(seen.steps.size() == 6);
    CHECK(seen.steps[0].rows == 12);
    CHECK(seen.steps[0].tombstones == 4);
    CHECK(seen.steps[1].rows == 16);
  }
}

TEST_CASE("case K-F6: a run whose every rollout of a step failed says so, and stops") {
  toy::shape shape;
  shape.failed = tk::failing::drops_rows;
  shape.harm = [](tk::context&, const std::string& at) {
    if (at == "sample")
      throw std::runtime_error("planted");
  };
  const auto seen = tk::sim::simulate(toy::pipeline(shape));
  REQUIRE(seen.ended);
  REQUIRE(seen.report.why);
  CHECK(seen.report.why->cause.starts_with("all 16 rows of its batch were lost; the first: 0:0/0, lost: "));
}

TEST_CASE("a body that hangs is called back at its deadline, named, abandoned and replaced, and every row is trained") {
  const auto whole = tk::sim::simulate(toy::pipeline());
  const auto seen = tk::sim::simulate(
      toy::pipeline({.harm = once(1, toy::ignore_everything), .retries = 1, .respawns = 1}));
  REQUIRE(seen.ended);
  CHECK(toy::why(seen.report) == "");
  CHECK(trained(seen.steps) == trained(whole.steps));
  CHECK(seen.report.abandoned == std::vector<std::string>{"toy/sampler[dp=1]@local:gpu1 in sample"});
  CHECK(seen.report.setbacks >= 1);
  CHECK(seen.violations.empty());
}
