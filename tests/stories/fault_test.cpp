// SPDX-License-Identifier: Apache-2.0
// A fault anywhere ends the run with its place, at once, and never with a hang: in simulation and on threads alike.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "toy.hpp"
#include "twinkle/runtime/session.hpp"
#include "twinkle/sim/simulate.hpp"

namespace tk = twinkle;
using namespace std::chrono_literals;

namespace {

/// Throws in one endpoint of one place, from its n-th call on.
toy::sabotage breaking(std::string stage, std::string endpoint, std::size_t data_rank = 0) {
  return [=](tk::context& ctx, const std::string& at) {
    if (at == endpoint && ctx.place().starts_with("toy/" + stage) && ctx.data_rank() == data_rank)
      throw std::runtime_error("planted in " + endpoint);
  };
}

struct damage {
  const char* what;
  toy::sabotage harm;
  std::string place;
  std::string endpoint;
};

std::vector<damage> all_damages() {
  return {
      {"a constructor", breaking("sampler", "sampler()", 2), "toy/sampler[dp=2]@local:gpu2", "constructor"},
      {"a constructor whose peer waits in a barrier", breaking("model", "model()", 1), "toy/model[dp=1]@local:gpu5",
       "constructor"},
      {"a source", breaking("source", "next"), "toy/source[dp=0]@local:cpu0", "next"},
      {"a sampler", breaking("sampler", "sample", 3), "toy/sampler[dp=3]@local:gpu3", "sample"},
      {"one model rank while its peer waits in an all-reduce", breaking("model", "train", 1),
       "toy/model[dp=1]@local:gpu5", "train"},
      {"state", breaking("model", "state"), "toy/model[dp=0]@local:gpu4", "state"},
      {"load", breaking("sampler", "load", 1), "toy/sampler[dp=1]@local:gpu1", "load"},
  };
}

void check(const damage& each, const tk::run_report& report) {
  INFO(each.what);
  REQUIRE(report.why);
  CHECK(report.why->place == each.place);
  CHECK(report.why->endpoint == each.endpoint);
  CHECK(report.why->cause.starts_with("planted in "));
  CHECK(report.abandoned.empty());
}

}  // namespace

TEST_CASE("a simulated fault ends the run with its place before time advances") {
  for (const damage& each : all_damages())
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const auto seen = tk::sim::simulate(toy::pipeline({.harm = each.harm}), {.seed = seed});
      REQUIRE(seen.ended);
      check(each, seen.report);
      CHECK(seen.fault_at == tk::time_point{0});
    }
}

TEST_CASE("a fault on threads ends the run with its place") {
  for (const damage& each : all_damages()) {
    tk::run_listener nobody;
    check(each, tk::run(toy::pipeline({.harm = each.harm}), {}, nobody));
  }
}

TEST_CASE("a failing call names the rows that the worker had") {
  const auto seen = tk::sim::simulate(toy::pipeline({.harm = breaking("sampler", "sample", 3)}));
  REQUIRE(seen.report.why);
  CHECK(seen.report.why->rows == tk::interval{6, 8});
}

TEST_CASE("a body that never returns is named at the deadline after an interrupt") {
  toy::shape shape;
  shape.harm = [](tk::context& ctx, const std::string& endpoint) {
    if (endpoint == "sample" && ctx.data_rank() == 1)
      toy::ignore_everything(ctx);
  };
  const auto seen = tk::sim::simulate(toy::pipeline(shape), {.interrupt = 30s});
  REQUIRE(seen.ended);
  REQUIRE(seen.report.abandoned.size() == 1);
  CHECK(seen.report.abandoned.front() == "toy/sampler[dp=1]@local:gpu1 in sample");
  CHECK(seen.at == 50s);  // ten seconds for the step to end, ten more for the bodies
}

TEST_CASE("a body that sleeps is woken by a stop, and nothing is abandoned") {
  toy::shape shape;
  shape.harm = [](tk::context& ctx, const std::string& endpoint) {
    if (endpoint == "sample" && ctx.data_rank() == 1)
      ctx.sleep_for(1h);
  };
  const auto seen = tk::sim::simulate(toy::pipeline(shape), {.interrupt = 30s});
  REQUIRE(seen.ended);
  CHECK(seen.report.abandoned.empty());
  CHECK(seen.at == 40s);
}

TEST_CASE("a call that takes too long ends at its deadline, which names who did not answer") {
  toy::shape shape;
  shape.harm = [](tk::context& ctx, const std::string& endpoint) {
    if (endpoint == "sample" && ctx.data_rank() == 2)
      ctx.sleep_for(1h);
  };
  const auto seen = tk::sim::simulate(toy::pipeline(shape));
  REQUIRE(seen.ended);
  REQUIRE(seen.report.why);
  CHECK(seen.report.why->cause == "no answer at the deadline (600.000s) from toy/sampler[dp=2]@local:gpu2");
  CHECK(seen.at == 600s);
}

TEST_CASE("an interrupt lets the step end, and counts what was on its way") {
  toy::shape shape;
  shape.steps = 1000;
  shape.harm = [](tk::context& ctx, const std::string& endpoint) {
    if (endpoint == "train")
      ctx.sleep_for(1s);
  };
  const auto seen = tk::sim::simulate(toy::pipeline(shape), {.interrupt = 10500ms});
  REQUIRE(seen.ended);
  CHECK(seen.report.interrupted);
  CHECK(toy::why(seen.report) == "");
  CHECK(seen.steps.size() == seen.report.steps);
  CHECK(seen.report.trained == 16 * seen.report.steps);
  CHECK(seen.report.returned > 0);
  CHECK(seen.grades.back().version == static_cast<std::int64_t>(seen.report.steps));
}

TEST_CASE("a shared body that blocks is a fault that names it") {
  toy::shape shape;
  shape.run = tk::bodies::shared;
  shape.harm = [](tk::context& ctx, const std::string& endpoint) {
    if (endpoint == "sample")
      ctx.sleep_for(1s);
  };
  const auto seen = tk::sim::simulate(toy::pipeline(shape));
  REQUIRE(seen.report.why);
  CHECK(seen.report.why->place.starts_with("toy/sampler"));
  CHECK(seen.report.why->cause.find("blocking call") != std::string::npos);
}
