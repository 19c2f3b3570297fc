// SPDX-License-Identifier: Apache-2.0
// Anything that pipelines are made to survive, drawn from a seed: TWINKLE_SEEDS says how many.
#include "stories/numbers.hpp"
#include "stories/toy.hpp"
#include "twinkle/sim/heavy_tail.hpp"
#include "twinkle/testing/simulation.hpp"

namespace tk = twinkle;
using namespace std::chrono_literals;
using numbers::number;

namespace {

tk::duration some_time(tk::sim::work of) { return tk::sim::heavy_tail(of.random, 30ms); }

struct world : tk::sim::simulation {
  world() {
    nodes(4, 2).cost(some_time);
    swarm({.until = 2s, .lasts_max = 8s}).seeds(20);
  }
};

void sturdy(tk::graph& g) {
  toy::build(g, {.steps = 12, .retries = 4, .respawns = 8});
}

// Rows that nobody could work on are lost by name, and there is nobody to take the place of a worker.
void lossy(tk::graph& g) {
  toy::build(g, {.steps = 12, .failed = tk::failing::drops_rows});
}

struct branch {
  tk::batch pass(tk::context&, tk::batch rows) { return rows; }
  void take(tk::context&, tk::batch rows, tk::emitter& out) {
    for (std::size_t at = rows.rows(); at-- > 0;)
      out(at, rows[tk::interval{at, at + 1}]);
  }
  tk::metrics train(tk::context&, tk::batch) { return {}; }
};

// Two branches that meet again, a filter, and an edge whose rows go on as they are completed.
void branching(tk::graph& g) {
  const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
  const tk::on many{.group = {.name = "many", .ranks = 4}, .respawns = 6};
  const tk::on few{.group = {.name = "few", .ranks = 2}, .respawns = 6};
  auto prompts = g.spawn<numbers::source>("source", {host}, std::size_t{12}).emits(&numbers::source::next);
  auto left = g.spawn<branch>("left", many);
  auto right = g.spawn<branch>("right", few);
  auto judge = g.spawn<branch>("judge", few);
  auto sink = g.spawn<branch>("sink", {host});
  const auto both = tk::zip(prompts.to(left, &branch::pass, {.retries = 4}),
                            prompts.to(right, &branch::pass, {.retries = 4}));
  both.filter(number, [](std::int64_t of) { return of % 5 != 0; }, "it divides by five")
      .to(judge, &branch::take, {.small = tk::small::allow_empty, .retries = 4})
      .as_completed()
      .rebatch(10)
      .to(sink, &branch::train, {.name = "train"});
}

}  // namespace

TEST_CASE_FIXTURE(world, "swarm: a pipeline with retries and respawns trains every row, whatever goes wrong") {
  nodes(6, 1);  // each sampler and each rank of the model has its own
  const auto calm = tk::sim::story{}.tell(sturdy, 1h, 1, "").what.digests("model");
  expect("what is trained is what a run without mishaps trains", [=](const auto& of) { return of.digests("model") == calm; });
  run(sturdy, 2h);
}

TEST_CASE_FIXTURE(world, "swarm: a pipeline that may lose rows loses them by name, and ends") {
  nodes(6, 1);  // where rows are fetched, those of a node that is lost are lost with it
  allow_fault();
  expect("there are as many steps as were asked for, but where a step has no row left", [](const auto& of) {
    return of.fault().empty() ? of.steps("model") == 12
                              : of.fault().find("all 16 rows of its batch were lost") != std::string::npos;
  });
  run(lossy, 2h);
}

TEST_CASE_FIXTURE(world, "swarm: branches that meet again, a filter and an edge as completed lose nothing") {
  expect("all 96 rows come to an end", [](const auto& of) { return of.trained() == 96; });
  run(branching, 2h);
}
