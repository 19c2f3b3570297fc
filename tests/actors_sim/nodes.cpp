// SPDX-License-Identifier: Apache-2.0
// A simulated run on several nodes, some of which die, freeze, or are cut off.
#include <doctest/doctest.h>

#include "stories/toy.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/sim/simulate.hpp"

namespace tk = twinkle;
using namespace std::chrono_literals;
using kind = tk::sim::mishap::kind;

namespace {

// The toy's devices go to nodes in order: node a has the source, the judge, two samplers, and b the other two.
tk::sim::options on_nodes() {
  tk::sim::options how;
  how.cluster = tk::place::cluster{"lab", {{.name = "a", .devices = 2, .cpus = 4}, {.name = "b", .devices = 2}, {.name = "c", .devices = 2}}};
  how.links = {.latency_min = 1ms, .latency_max = 20ms};
  how.rules = {tk::sim::cost("sampler", &toy::sampler::sample, [](tk::sim::work) { return tk::duration(100ms); }),
               tk::sim::cost("model", &toy::model::train, [](tk::sim::work) { return tk::duration(50ms); })};
  return how;
}

toy::shape sturdy() {
  toy::shape shape;
  shape.steps = 20;
  shape.retries = 3;
  shape.respawns = 8;
  return shape;
}

std::vector<std::uint64_t> trained(const tk::sim::outcome& seen) {
  std::vector<std::uint64_t> digests;
  for (const tk::step_record& each : seen.steps)
    digests.push_back(each.digest);
  return digests;
}

// Runs under many seeds, and is to train what a run without mishaps trains.
void survives(const tk::sim::mishap& what, std::size_t setbacks) {
  const auto whole = trained(tk::sim::simulate(toy::pipeline(sturdy())));
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    tk::sim::options how = on_nodes();
    how.seed = seed;
    how.mishaps = {what};
    const auto seen = tk::sim::simulate(toy::pipeline(sturdy()), how);
    CAPTURE(seed);
    CAPTURE(to_string(what));
    REQUIRE(seen.ended);
    CHECK(toy::why(seen.report) == "");
    CHECK(trained(seen) == whole);
    CHECK((seen.report.setbacks >= setbacks) == true);
    CHECK((seen.report.setbacks == 0) == (setbacks == 0));
  }
}

}  // namespace

TEST_CASE("a run on several nodes trains what it trains on one") {
  const auto one = tk::sim::simulate(toy::pipeline(sturdy()));
  const auto three = tk::sim::simulate(toy::pipeline(sturdy()), on_nodes());
  REQUIRE(three.ended);
  CHECK(trained(three) == trained(one));
  CHECK(three.at > 20 * 50ms);
}

TEST_CASE("what happens between nodes repeats with its seed, and only with it") {
  tk::sim::options how = on_nodes();
  const auto first = tk::sim::simulate(toy::pipeline(sturdy()), how);
  CHECK(tk::sim::simulate(toy::pipeline(sturdy()), how).history == first.history);
  how.seed = 2;
  CHECK(tk::sim::simulate(toy::pipeline(sturdy()), how).history != first.history);
}

TEST_CASE("a node that dies is noticed, and its workers come back with it") {
  survives({.at = 400ms, .what = kind::node_dies, .node = "b", .lasts = 8s}, 2);
  survives({.at = 400ms, .what = kind::node_dies, .node = "b", .lasts = 1s}, 2);
}

TEST_CASE("a node that freezes for long is taken for dead; for a short time, for nothing") {
  survives({.at = 400ms, .what = kind::node_freezes, .node = "b", .lasts = 8s}, 2);
  survives({.at = 400ms, .what = kind::node_freezes, .node = "b", .lasts = 3s}, 0);
}

TEST_CASE("a node that is cut off for long is taken for dead; for a short time, for nothing") {
  survives({.at = 400ms, .what = kind::cut, .node = "a", .other = "b", .lasts = 8s}, 2);
  survives({.at = 400ms, .what = kind::cut, .node = "b", .other = "a", .lasts = 3s}, 0);
  survives({.at = 400ms, .what = kind::cut, .node = "b", .other = "c", .lasts = 8s}, 0);
}

TEST_CASE("silences that overlap are one, however short each of them is") {
  tk::sim::options how = on_nodes();
  how.mishaps = {{.at = 400ms, .what = kind::node_freezes, .node = "b", .lasts = 4s},
                 {.at = 3s, .what = kind::cut, .node = "a", .other = "b", .lasts = 4s}};
  const auto seen = tk::sim::simulate(toy::pipeline(sturdy()), how);
  REQUIRE(seen.ended);
  CHECK(toy::why(seen.report) == "");
  REQUIRE(!seen.setbacks.empty());
  CHECK(seen.setbacks[0].find("node 'b' was lost: nothing came from it for 5 s") != std::string::npos);
}

TEST_CASE("a worker that is back at once is not taken for gone for ever") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed)
    for (const auto lasts : {tk::duration(0), tk::duration(1ms)}) {
      tk::sim::options how = on_nodes();
      how.seed = seed;
      for (std::size_t worker = 0; worker < 4; ++worker)
        how.mishaps.push_back({.at = 400ms, .what = kind::dies, .stage = "sampler", .worker = worker, .lasts = lasts});
      toy::shape shape = sturdy();
      shape.retries = 8;
      const auto seen = tk::sim::simulate(toy::pipeline(shape), how);
      CAPTURE(seed);
      REQUIRE(seen.ended);
      CHECK(toy::why(seen.report) == "");
      CHECK(seen.steps.size() == 20);
      CHECK(seen.at < 10s);
    }
}

TEST_CASE("the node of a stage that cannot go on ends the run with one fault that names it") {
  tk::sim::options how = on_nodes();
  how.mishaps = {{.at = 400ms, .what = kind::node_dies, .node = "c", .lasts = 1h}};
  const auto seen = tk::sim::simulate(toy::pipeline(sturdy()), how);
  REQUIRE(seen.ended);
  REQUIRE(seen.report.why);
  CHECK(seen.report.why->place.starts_with("toy/model"));
  CHECK(seen.report.why->cause.find("node 'c' was lost: nothing came from it for 5 s") != std::string::npos);
  REQUIRE(seen.fault_at);
  CHECK(*seen.fault_at <= 400ms + 5s);
  CHECK(*seen.fault_at >= 400ms + 4s - 2 * 20ms);  // it speaks each second
}

TEST_CASE("a mishap that cannot happen is refused with what there is") {
  const auto refused = [](const tk::sim::mishap& what, const std::string& words) {
    tk::sim::options how = on_nodes();
    how.mishaps = {what};
    try {
      static_cast<void>(tk::sim::simulate(toy::pipeline(), how));
      FAIL("it was not refused");
    } catch (const tk::error& wrong) {
      CHECK(std::string(wrong.what()).find(words) != std::string::npos);
    }
  };
  refused({.what = kind::node_dies, .node = "a"}, "the session and all routers are on 'a'");
  refused({.what = kind::cut, .node = "a", .other = "d"}, "there is no node 'd'; there are 'a', 'b', 'c'");
  refused({.what = kind::hangs, .stage = "smapler"}, "there is no stage 'smapler'; there are 'source', 'sampler'");
  refused({.what = kind::dies, .stage = "sampler", .worker = 4}, "stage 'sampler' has 4 workers");
  refused({.what = kind::late_weights, .stage = "model"}, "stage 'model' loads no weights");
  refused({.what = kind::stalls, .stage = "sampler", .lasts = -1s}, "its time and duration are not negative");
}
