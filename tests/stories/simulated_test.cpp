// SPDX-License-Identifier: Apache-2.0
// One idea each: what goes wrong with samplers, models, weights and nodes, and what becomes of a run.
#include "toy.hpp"
#include "twinkle/sim/heavy_tail.hpp"
#include "twinkle/testing/simulation.hpp"

namespace tk = twinkle;
using namespace std::chrono_literals;
using tk::sim::simulation;

namespace {

toy::shape sturdy() {
  toy::shape of;
  of.steps = 20;
  of.retries = 3;
  of.respawns = 8;
  return of;
}

// A source and a judge on the first of three nodes, two samplers on each of the first two, the model on the third.
struct pipeline : simulation {
  toy::shape of = sturdy();

  pipeline() {
    nodes(3, 2).latency(1ms, 5ms);
    cost("sampler", &toy::sampler::sample, [](const tk::sim::work&) { return tk::duration(100ms); });
    cost("model", &toy::model::train, [](const tk::sim::work&) { return tk::duration(50ms); });
  }

  tk::sim::seen whole() { return run([this](tk::graph& g) { toy::build(g, of); }, 1h); }
};

// What is trained where nothing goes wrong.
const std::vector<std::uint64_t>& calm() {
  static const std::vector<std::uint64_t> digests = [] {
    tk::sim::story told;
    return told.tell([](tk::graph& g) { toy::build(g, sturdy()); }, 1h, 1, "").what.digests("model");
  }();
  return digests;
}

}  // namespace

TEST_CASE_FIXTURE(pipeline, "a sampler that dies and comes back loses no prompt") {
  at(500ms).crash("sampler", 1, 2s);
  const auto seen = whole();
  CHECK(seen.digests("model") == calm());
  CHECK(seen.setbacks() > 0);
  CHECK(seen.unaccounted() == 0);
}

TEST_CASE_FIXTURE(pipeline, "a sampler that is gone for good is done without") {
  of.respawns = 0;
  at(500ms).crash("sampler", 1, 0s);
  const auto seen = whole();
  CHECK(seen.digests("model") == calm());
  CHECK(seen.run.setbacks.back().find("it died") != std::string::npos);
}

TEST_CASE_FIXTURE(pipeline, "a rollout that throws is sampled by another, and it is said which") {
  at(500ms).fail("sampler", 2);
  const auto seen = whole();
  CHECK(seen.digests("model") == calm());
  REQUIRE(seen.setbacks() == 1);
  CHECK(seen.run.setbacks[0].starts_with("simulation/sampler[dp=2]@node-1:gpu0 in sample, rows [4,6): it was made to"));
}

TEST_CASE_FIXTURE(pipeline, "a rollout that hangs is given to another at its deadline") {
  at(500ms).hang("sampler", 0);
  const auto seen = whole();
  CHECK(seen.digests("model") == calm());
  CHECK(seen.run.at > 10min);
  CHECK(seen.run.setbacks.at(0).find("no answer at the deadline") != std::string::npos);
}

TEST_CASE_FIXTURE(pipeline, "case K-F5: whatever order rollouts finish in, no row is older than its bound") {
  cost("sampler", &toy::sampler::sample, [](tk::sim::work w) { return tk::sim::heavy_tail(w.random, 50ms); });
  seeds(10);
  const auto seen = whole();
  CHECK(seen.digests("model") == calm());
  CHECK(seen.staleness_max("model") == 1);
}

TEST_CASE_FIXTURE(pipeline, "a rank that is slow for a while holds the others up, and changes nothing") {
  at(500ms).slow("sampler", 3, 20, 5s);
  const auto seen = whole();
  CHECK(seen.digests("model") == calm());
  CHECK(seen.setbacks() == 0);
  const auto times = seen.step_times("model");
  CHECK(*std::max_element(times.begin(), times.end()) > 1s);
}

TEST_CASE_FIXTURE(pipeline, "weights that come late hold samplers up, and let nothing become too old") {
  at(500ms).late_weights("sampler", 30s);
  const auto seen = whole();
  CHECK(seen.digests("model") == calm());
  CHECK(seen.run.at > 30s);
  CHECK(seen.staleness_max("model") == 1);
}

TEST_CASE_FIXTURE(pipeline, "a model that stalls lets samplers run on as far as its edges hold, and no further") {
  at(500ms).stall("model", 1min);
  const auto seen = whole();
  CHECK(seen.digests("model") == calm());
  CHECK(seen.run.at > 1min);
  CHECK(seen.emitted() <= 8 * (20 + 6));
}

TEST_CASE_FIXTURE(pipeline, "a node that dies is noticed in time, and its rows are done elsewhere") {
  at(500ms).crash_node(1, 20s);
  const auto seen = whole();
  CHECK(seen.digests("model") == calm());
  REQUIRE(seen.setbacks() >= 2);
  CHECK(seen.run.setbacks[0].find("node 'node-1' was lost: nothing came from it for 5 s") != std::string::npos);
}

TEST_CASE_FIXTURE(pipeline, "a node that freezes, or is cut off, for less than its patience is not missed") {
  at(500ms).freeze(1, 3s);
  at(6s).cut({1}, 3s);
  const auto seen = whole();
  CHECK(seen.digests("model") == calm());
  CHECK(seen.setbacks() == 0);
}

TEST_CASE_FIXTURE(pipeline, "a node that is cut off for long is not let back in as what it was") {
  at(500ms).cut({1}, 30s);
  const auto seen = whole();
  CHECK(seen.digests("model") == calm());
  CHECK(seen.setbacks() >= 2);
}

TEST_CASE_FIXTURE(pipeline, "without the node of its model a run ends at once with one fault, which names it") {
  at(500ms).crash_node(2, 1h);
  allow_fault();
  const auto seen = whole();
  CHECK(seen.fault().starts_with("simulation/model"));
  CHECK(seen.fault().find("node 'node-2' was lost: nothing came from it for 5 s") != std::string::npos);
  CHECK(seen.run.fault_at <= 5500ms);
}

TEST_CASE_FIXTURE(pipeline, "a node that dies while another worker hangs leaves one sampler to do it all") {
  at(500ms).hang("sampler", 0);
  at(600ms).crash_node(1, 20min);
  const auto seen = whole();
  CHECK(seen.digests("model") == calm());
}

TEST_CASE_FIXTURE(pipeline, "a worker that hangs in its own rows, and again in those of one that is gone, is not waited for for ever") {
  of.retries = 0;
  of.respawns = 0;
  of.failed = tk::failing::drops_rows;
  seeds(20).at(500ms).crash("sampler", 2, 0s).hang("sampler", 3);
  for (int time = 1; time <= 4; ++time)
    at(500ms + time * 20ms).hang("sampler", 3);
  expect("all steps are made", [](const tk::sim::seen& of) { return of.steps("model") == 20; });
  whole();
}

TEST_CASE_FIXTURE(pipeline, "case K-F2: rows that nobody could sample count for their step, which never waits for them") {
  of.retries = 0;
  of.failed = tk::failing::drops_rows;
  at(500ms).fail("sampler", 1);
  const auto seen = whole();
  CHECK(seen.steps("model") == 20);
  CHECK(seen.lost() == 2);
  CHECK(seen.tombstones("model") == 4);
}

TEST_CASE_FIXTURE(pipeline, "case K-F9: samplers that come back again and again serve nothing before the newest weights") {
  for (int time = 1; time <= 4; ++time)
    at(time * 400ms).crash("sampler", static_cast<std::size_t>(time) % 4, 300ms);
  seeds(10);
  const auto seen = whole();
  CHECK(seen.digests("model") == calm());
  CHECK(seen.staleness_max("model") == 1);
}
