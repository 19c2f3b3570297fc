// SPDX-License-Identifier: Apache-2.0
// What befalls workers and stages in a simulation, on one node.
#include <doctest/doctest.h>

#include "stories/toy.hpp"
#include "twinkle/sim/simulate.hpp"

namespace tk = twinkle;
using namespace std::chrono_literals;
using kind = tk::sim::mishap::kind;

namespace {

toy::shape sturdy(tk::bodies run = tk::bodies::own_thread) {
  toy::shape shape;
  shape.run = run;
  shape.retries = 3;
  shape.respawns = 8;
  return shape;
}

tk::sim::outcome with(const tk::sim::mishap& what, std::uint64_t seed = 1, const toy::shape& of = sturdy()) {
  tk::sim::options how{.seed = seed};
  how.rules = {tk::sim::cost("sampler", &toy::sampler::sample,
                             [](tk::sim::work w) { return w.rows * tk::duration(50ms); })};
  how.mishaps = {what};
  return tk::sim::simulate(toy::pipeline(of), how);
}

std::vector<std::uint64_t> trained(const tk::sim::outcome& seen) {
  std::vector<std::uint64_t> digests;
  for (const tk::step_record& each : seen.steps)
    digests.push_back(each.digest);
  return digests;
}

}  // namespace

TEST_CASE("whatever befalls a sampler that may be retried and replaced, the same rows are trained") {
  const auto whole = trained(tk::sim::simulate(toy::pipeline()));
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const kind what : {kind::slows, kind::drags, kind::throws, kind::hangs, kind::dies, kind::late_weights, kind::stalls}) {
      const tk::sim::mishap mishap{.at = 120ms, .what = what, .stage = "sampler", .worker = seed % 4, .factor = 30, .lasts = 2s};
      CAPTURE(to_string(mishap));
      CAPTURE(seed);
      const auto seen = with(mishap, seed);
      REQUIRE(seen.ended);
      CHECK(toy::why(seen.report) == "");
      CHECK(trained(seen) == whole);
      for (const tk::step_record& each : seen.steps)
        CHECK(each.staleness_max <= 1);
    }
}

TEST_CASE("bodies cost the virtual time that they are said to cost") {
  toy::shape shape = sturdy();
  shape.bound = 0;
  const auto seen = with({.at = 1h, .what = kind::stalls, .stage = "sampler"}, 1, shape);
  CHECK(seen.steps.size() == 6);  // of two rows a sampler; a seventh may have begun when the run is told to end
  CHECK((seen.at == 6 * 100ms || seen.at == 7 * 100ms));
}

TEST_CASE("a slow sampler is slow while it lasts") {
  toy::shape shape = sturdy();
  shape.bound = 0;
  const auto seen = with({.at = 0ms, .what = kind::slows, .stage = "sampler", .worker = 1, .factor = 10, .lasts = 500ms}, 1, shape);
  CHECK((seen.at == 6 * 100ms + 450ms || seen.at == 7 * 100ms + 450ms));
}

TEST_CASE("the next body drags, throws or hangs, and it is said which") {
  CHECK(with({.at = 100ms, .what = kind::drags, .stage = "sampler", .lasts = 3s}).at >= 3s);
  const auto thrown = with({.at = 100ms, .what = kind::throws, .stage = "sampler", .worker = 2});
  REQUIRE(thrown.setbacks.size() == 1);
  CHECK(thrown.setbacks[0].find("toy/sampler[dp=2]@local:gpu2 in sample, rows [4,6): it was made to throw") == 0);
  const auto hung = with({.at = 100ms, .what = kind::hangs, .stage = "sampler", .worker = 2});
  REQUIRE(hung.setbacks.size() == 1);
  CHECK(hung.setbacks[0].find("no answer at the deadline (600.") != std::string::npos);
}

TEST_CASE("a shared body that costs time needs no thread, and goes wrong like any other") {
  const auto whole = trained(tk::sim::simulate(toy::pipeline()));
  for (const kind what : {kind::drags, kind::throws, kind::hangs, kind::stalls}) {
    tk::sim::options how;
    how.rules = {tk::sim::cost("source", &toy::source::next, [](tk::sim::work) { return tk::duration(1s); })};
    how.mishaps = {{.at = 100ms, .what = what, .stage = "source", .lasts = 3s}};
    const auto seen = tk::sim::simulate(toy::pipeline(sturdy(tk::bodies::shared)), how);
    REQUIRE(seen.ended);
    if (what == kind::throws || what == kind::hangs) {
      CHECK(toy::why(seen.report).find("toy/source") == 0);
    } else {
      CHECK(trained(seen) == whole);
      CHECK(seen.at >= 9s);
    }
  }
}

namespace {

// A worker of many ranks, all of which work on the same rows; one that never finishes any.
struct together {
  tk::batch pass(tk::context&, tk::batch rows) { return rows; }
  tk::batch never(tk::context&, tk::batch rows) {
    std::vector<std::size_t> all(rows.rows());
    for (std::size_t row = 0; row < all.size(); ++row)
      all[row] = row;
    return rows.unfinished(all);
  }
  tk::metrics train(tk::context&, tk::batch) { return {}; }
};

tk::graph of_ranks(tk::batch (together::*what)(tk::context&, tk::batch), const tk::device_mesh& mesh, std::size_t respawns) {
  tk::graph g{"ranks"};
  const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
  const tk::device_group many{.name = "many", .ranks = mesh.world_size()};
  auto passes = g.spawn<together>("pass", {many, mesh, tk::bodies::own_thread, respawns});
  auto sinks = g.spawn<together>("sink", {host});
  g.spawn<toy::source>("source", {host}, std::size_t{4}, std::size_t{50})
      .emits(&toy::source::next, {.rows = 4})
      .to(passes, what, {.name = "pass", .retries = 3})
      .to(sinks, &together::train);
  return g;
}

}  // namespace

TEST_CASE("a stage that has fewer respawns than ranks that went together ends the run, and does not wait for ever") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    tk::sim::options how{.seed = seed};
    how.rules = {tk::sim::cost("pass", &together::pass, [](tk::sim::work) { return tk::duration(100ms); })};
    for (std::size_t worker = 0; worker < 2; ++worker)
      how.mishaps.push_back({.at = 450ms, .what = kind::dies, .stage = "pass", .worker = worker, .lasts = 1s});
    const auto mesh = tk::device_mesh::from_sizes({.tp_size = 2});
    const auto short_of_one = tk::sim::simulate(of_ranks(&together::pass, mesh, 1), how);
    REQUIRE(short_of_one.ended);
    CHECK(toy::why(short_of_one.report).find("it died") != std::string::npos);
    CHECK(short_of_one.at < 30s);
    const auto enough = tk::sim::simulate(of_ranks(&together::pass, mesh, 2), how);
    REQUIRE(enough.ended);
    CHECK(toy::why(enough.report) == "");
    CHECK(enough.report.trained == 200);
  }
}

TEST_CASE("rows that wait behind a body that hangs are not tried in vain: the one in their way is called back") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    tk::sim::options how{.seed = seed};
    how.rules = {tk::sim::cost("pass", &together::pass, [](tk::sim::work) { return tk::duration(100ms); })};
    // Worker 0 hangs in one call; worker 1, which is to take over, hangs in the next, and so does worker 0 then.
    how.mishaps = {{.at = 150ms, .what = kind::hangs, .stage = "pass", .worker = 0},
                   {.at = 250ms, .what = kind::hangs, .stage = "pass", .worker = 1},
                   {.at = 10s, .what = kind::hangs, .stage = "pass", .worker = 0}};
    const auto seen = tk::sim::simulate(of_ranks(&together::pass, tk::device_mesh::from_sizes({.dp_size = 2}), 0), how);
    CAPTURE(seed);
    REQUIRE(seen.ended);
    CHECK(toy::why(seen.report) == "");
    CHECK(seen.report.trained == 200);
    CHECK(seen.violations.empty());
  }
}

TEST_CASE("a run in which far too much happens while time stands is given up") {
  const auto seen = tk::sim::simulate(of_ranks(&together::never, tk::device_mesh::from_sizes({.dp_size = 2}), 0),
                                      {.idle_max = 20'000});
  CHECK_FALSE(seen.ended);
  CHECK(seen.at == 0s);
}

TEST_CASE("a killed body is unwound where it waits, and one that ignores that is left") {
  toy::shape shape = sturdy();
  shape.harm = [](tk::context& ctx, const std::string& endpoint) {
    if (endpoint == "sample" && ctx.data_rank() == 1 && ctx.now() < 1s)
      toy::ignore_everything(ctx);
  };
  const auto seen = with({.at = 200ms, .what = kind::dies, .stage = "sampler", .worker = 1, .lasts = 2s}, 1, shape);
  REQUIRE(seen.ended);
  CHECK(toy::why(seen.report) == "");
}
