// SPDX-License-Identifier: Apache-2.0
// One idea each: what becomes of fetches, collectives and weights between nodes that die, freeze, or are cut off.
#include "toy.hpp"
#include "twinkle/testing/simulation.hpp"

namespace tk = twinkle;
using namespace std::chrono_literals;
using tk::sim::simulation;

namespace {

// No rows ride in messages. The source and a sampler are on the first of four nodes, a sampler each on the next two; the
// model is on the last, or on the last two where it is spread.
struct fetching : simulation {
  toy::shape of;

  fetching() {
    of.steps = 20;
    of.samplers = 3;
    of.retries = 3;
    of.respawns = 8;
    cluster({{.name = "a", .devices = 1, .cpus = 4}, {.name = "b", .devices = 1}, {.name = "c", .devices = 1},
             {.name = "d", .devices = 2}});
    latency(1ms, 5ms).inline_rows(0).seeds(20);
    cost("sampler", &toy::sampler::sample, [](const tk::sim::work&) { return tk::duration(20ms); });
    cost("model", &toy::model::train, [](const tk::sim::work&) { return tk::duration(20ms); });
  }

  tk::sim::seen whole() { return run([this](tk::graph& g) { toy::build(g, of); }, 1h); }

  std::vector<std::uint64_t> calm() const {
    return tk::sim::story{}.tell([this](tk::graph& g) { toy::build(g, of); }, 1h, 1, "").what.digests("model");
  }
  /// What is trained is what one node trains, where nothing goes wrong.
  void expect_calm() {
    expect("the same is trained", [steps = calm()](const tk::sim::seen& of) { return of.digests("model") == steps; });
  }
};

// The ranks of the model are on different nodes.
struct spread : fetching {
  spread() {
    of.samplers = 2;
    cluster({{.name = "a", .devices = 1, .cpus = 4}, {.name = "b", .devices = 1}, {.name = "c", .devices = 1},
             {.name = "d", .devices = 1}});
  }
};

}  // namespace

TEST_CASE_FIXTURE(fetching, "rows that are fetched are those that ride in messages") {
  expect_calm();
  whole();
}

TEST_CASE_FIXTURE(fetching, "a cut in the middle of fetches makes them late, and nothing else") {
  expect_calm();
  for (int time = 1; time <= 10; ++time)
    at(time * 70ms).cut({1}, 30ms).freeze(2, 20ms);
  expect("nothing is done again", [](const tk::sim::seen& of) { return of.setbacks() == 0; });
  whole();
}

TEST_CASE_FIXTURE(fetching, "nodes that cannot reach each other, though the first reaches both, are noticed") {
  at(300ms).cut_between(2, 3, 1min);
  allow_fault();
  expect("the fault says who is not reached", [](const tk::sim::seen& of) {
    return of.fault().find("cannot reach it: nothing came from it for 5 s") != std::string::npos ||
           of.fault().find("what it needs cannot be fetched: node") != std::string::npos;
  });
  whole();
}

TEST_CASE_FIXTURE(fetching, "the node of the model dies in the middle of its fetches: one fault, which names it") {
  at(300ms).crash_node(3, 1h);
  allow_fault();
  expect("the fault names the node",
         [](const tk::sim::seen& of) { return of.fault().find("node 'd'") != std::string::npos; });
  whole();
}

TEST_CASE_FIXTURE(fetching, "a node that dies with rows that others wait for: they are made again, or one fault says whose they were") {
  for (int time = 1; time <= 5; ++time)
    at(time * 110ms + 5ms).crash_node(1, 50ms);
  allow_fault();
  expect("all is trained, or the fault names the node", [](const tk::sim::seen& of) {
    return of.fault().empty() ? of.run.steps.size() == 20 : of.fault().find("node 'b'") != std::string::npos;
  });
  whole();
}

TEST_CASE_FIXTURE(fetching, "a node that dies with rows that others wait for costs those rows, by name, where rows may be lost") {
  of.failed = tk::failing::drops_rows;
  for (int time = 1; time <= 5; ++time) {
    at(time * 110ms + 5ms).crash_node(1, 50ms);
    at(time * 110ms + 45ms).crash_node(2, 50ms);
  }
  expect("every step is made", [](const tk::sim::seen& of) { return of.run.steps.size() == 20; });
  std::size_t lost = 0;
  expect("each row is trained or lost by name", [&](const tk::sim::seen& of) {
    std::size_t rows = 0;
    for (const auto& step : of.run.steps)
      rows += step.rows + step.tombstones;
    lost += of.tombstones("model");
    return rows == 20 * 16;
  });
  whole();
  CHECK(lost > 0);
}

TEST_CASE_FIXTURE(fetching, "case K-F3: what is kept for others does not grow from step to step, and is gone in the end") {
  of.bound = 0;
  of.steps = 60;
  expect("no step leaves more than those before it", [](const tk::sim::seen& of) {
    const auto half = of.run.kept.begin() + 30;
    return *std::max_element(half, of.run.kept.end()) <= *std::max_element(of.run.kept.begin(), half);
  });
  whole();  // that it is gone in the end is promised of every run
}

TEST_CASE_FIXTURE(fetching, "case K-F3: where nothing is made ahead, only the newest weights are kept after each step") {
  of.bound = 0;
  cost("source", &toy::source::next, [](const tk::sim::work&) { return tk::duration(10s); });
  expect("a number is kept, and one that the judge would need again, who sees each fourth", [](const tk::sim::seen& of) {
    for (std::size_t step = 1; step < of.run.steps.size(); ++step)
      if (of.run.kept.at(step - 1) != (step % 4 == 0 ? 1 : 2) * sizeof(double))
        return false;
    return of.run.steps.size() == 20;
  });
  whole();
  // Nor does a node that dies while it fetches, or one that is frozen, leave anything.
  at(40s + 20ms).crash_node(1, 30s).freeze(2, 2s);
  at(90s + 5ms).crash_node(2, 1s);
  whole();
}

TEST_CASE_FIXTURE(spread, "a collective across nodes gives the same bits, however late its letters are") {
  expect_calm();
  for (int time = 1; time <= 10; ++time)
    at(time * 70ms).cut_between(2, 3, 40ms).freeze(3, 10ms);
  expect("nothing is done again", [](const tk::sim::seen& of) { return of.setbacks() == 0; });
  whole();
}

TEST_CASE_FIXTURE(spread, "a node that dies in the middle of a collective frees its peers, and ends the run with one fault") {
  at(500ms).crash_node(3, 1h);
  allow_fault();
  expect("it is noticed in time", [](const tk::sim::seen& of) { return of.run.fault_at && *of.run.fault_at <= 5500ms; });
  expect("the fault names the node",
         [](const tk::sim::seen& of) { return of.fault().find("node 'd' was lost") != std::string::npos; });
  whole();
}

TEST_CASE_FIXTURE(fetching, "weights whose way is cut are loaded when it is back, and nothing is sampled before") {
  expect_calm();
  for (int time = 1; time <= 5; ++time)
    at(time * 150ms).cut_between(1, 3, 100ms).late_weights("sampler", 20ms);
  whole();
}
