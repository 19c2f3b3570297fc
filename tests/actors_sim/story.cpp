// SPDX-License-Identifier: Apache-2.0
// What a story tells: of a run that goes well, and of one that does not.
#include <memory>

#include "stories/toy.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/testing/simulation.hpp"

namespace tk = twinkle;
using namespace std::chrono_literals;
using tk::sim::seen;
using tk::sim::story;

namespace {

toy::shape sturdy() { return {.steps = 20, .retries = 8, .respawns = 8}; }

void toy_pipeline(tk::graph& g) { toy::build(g, sturdy()); }

tk::duration tenth(const tk::sim::work&) { return 100ms; }

// The toy on three nodes of two devices; sampling takes its time.
story on_nodes() {
  story told;
  told.nodes(3, 2).latency(1ms, 5ms).cost("sampler", &toy::sampler::sample, tenth);
  return told;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(tk::sim::simulation, "a crashed sampler and a node that is cut off lose no row") {
  nodes(3, 2).latency(1ms, 5ms);
  cost("sampler", &toy::sampler::sample, tenth);
  at(200ms).crash("sampler", 1, 500ms);
  at(500ms).cut({1}, 1s);

  const auto seen = run(toy_pipeline, 10min);

  CHECK(seen.steps("model") == 20);
  CHECK(seen.trained() == 20 * 16);
  CHECK(seen.lost() == 0);
  CHECK(seen.unaccounted() == 0);
  CHECK(seen.staleness_max("model") <= 1);
  CHECK(seen.setbacks() > 0);
}

TEST_CASE_FIXTURE(tk::sim::simulation, "whatever is drawn to go wrong, the same rows are trained") {
  const auto calm = story{}.tell(toy_pipeline, 10min, 1, "").what.digests("model");
  nodes(3, 2).cost("sampler", &toy::sampler::sample, tenth);
  swarm({.until = 2s, .lasts_max = 3s}).seeds(20);
  std::size_t runs = 0;
  std::size_t hurt = 0;
  run(toy_pipeline, 1h, [&](const seen& each) {
    CHECK(each.digests("model") == calm);
    ++runs;
    hurt += each.setbacks() > 0 ? 1 : 0;
  });
  CHECK(runs == seeds().size());
  if (runs == 20)
    CHECK(hurt > 3);
}

TEST_CASE("a graph that cannot run is refused as it is by its program, and a story of no seeds is none") {
  const auto crowded = [](tk::graph& g) {
    const auto mesh = tk::device_mesh::from_sizes({.dp_size = 8});
    (void)g.spawn<toy::sampler>("sampler", {{.name = "rollout", .ranks = 4}, mesh});
  };
  CHECK_THROWS_WITH_AS((void)story{}.tell(crowded, 1min, 1, ""), doctest::Contains("cannot run"), tk::error);
  CHECK_THROWS_WITH_AS((void)story{}.at(1s).cut({1}, 1s), doctest::Contains("there is no node 1"), tk::error);
  CHECK_THROWS_WITH_AS((void)story{}.nodes(2, 1).at(1s).cut({0, 1}, 1s), doctest::Contains("nobody is cut off"), tk::error);
  CHECK_THROWS_WITH_AS((void)story{}.seeds(0).seeds(), doctest::Contains("0 seeds"), tk::error);
}

TEST_CASE("a worker that makes other values of the same rows at the same times does not repeat") {
  double made = 0;
  story told = on_nodes();
  told.fake("model", &toy::model::train, [&](tk::context&, tk::batch) { return tk::metrics{}.mean("value", made += 1); });
  const auto found = told.tell(toy_pipeline, 10min, 1, "", true);
  REQUIRE(found.wrong.size() == 1);
  CHECK(contains(found.wrong[0], "the same seed gave another history"));
}

TEST_CASE("a story whose every promise is kept has nothing to say but how it went") {
  const auto told = on_nodes().tell(toy_pipeline, 10min, 7, "TWINKLE_SEED=0x7 tests -tc=\"it\"", true);
  CHECK(told.wrong == std::vector<std::string>{});
  CHECK(told.explained.starts_with("simulation   seed 0x7   t=+"));
  CHECK(contains(told.explained, "step 20   3 nodes, 8 workers\nmishaps      none\n"));
  CHECK(told.explained.ends_with("reproduce    TWINKLE_SEED=0x7 tests -tc=\"it\"\n"));
}

TEST_CASE("an expectation that is broken is explained by the mishaps that break it, and no others") {
  story told = on_nodes();
  told.at(100ms).slow("model", 0, 2, 3s).drag("sampler", 0, 50ms);
  told.at(234ms).fail("sampler", 2).late_weights("sampler", 200ms);
  told.at(300ms).freeze(1, 200ms).stall("source", 100ms);
  told.expect("no body fails", [](const seen& each) { return each.setbacks() == 0; });
  const auto found = told.tell(toy_pipeline, 10min, 1, "tests");
  REQUIRE(found.wrong.size() == 1);
  CHECK(found.wrong[0] == "this was expected, and is not so: no body fails");
  CHECK(contains(found.explained, "mishaps      at 0ns sampler[2] throws\n             (1 of 6 needed, after shrinking in "));
}

TEST_CASE("a run that ends with a fault is wrong, unless it may") {
  const auto frail = [](tk::graph& g) { toy::build(g); };
  story told = on_nodes();
  told.at(150ms).crash("sampler", 1, 1s);
  const auto found = told.tell(frail, 10min, 1, "tests");
  REQUIRE(found.wrong.size() == 1);
  CHECK(found.wrong[0] == found.what.fault());
  CHECK(contains(found.wrong[0], "simulation/sampler[dp=1]@node-"));
  CHECK(contains(found.explained, "\nfault        simulation/sampler[dp=1]@node-"));
  CHECK(contains(found.explained, "(1 of 1 needed, after shrinking in "));
  told.allow_fault();
  CHECK(told.tell(frail, 10min, 1, "tests").wrong.empty());
}

TEST_CASE("a run that is not over in time is wrong, and says who waits for whom") {
  story told = on_nodes();
  told.at(1s).stall("sampler", 10min);
  const auto found = told.tell(toy_pipeline, 3min, 1, "tests");
  REQUIRE(!found.wrong.empty());
  CHECK(found.wrong.back() == "the run was not over at " + tk::to_string(found.what.run.at));
  CHECK(contains(found.explained, "\nwaits        simulation/"));
  CHECK(contains(found.explained, "\nlost         "));
}

TEST_CASE("a body that knows more than its context is found out, for its run does not repeat") {
  const auto calls = std::make_shared<int>(0);
  story told;
  told.cost("sampler", &toy::sampler::sample, [calls](const tk::sim::work&) { return 1ms * ++*calls; });
  const auto found = told.tell(toy_pipeline, 10min, 1, "tests", true);
  REQUIRE(found.wrong.size() == 1);
  CHECK(found.wrong[0].starts_with("the same seed gave another history: "));
}

TEST_CASE("a story refuses what is not there, by name") {
  story told = on_nodes();
  CHECK_THROWS_WITH_AS(told.at(1s).crash_node(3, 1s),
                       "there is no node 3 to which anything could happen: say nodes(…) first; there are 3", tk::error);
  CHECK_THROWS_WITH_AS(story{}.at(1s).freeze(0, 1s),
                       "there is no node 0 to which anything could happen: say nodes(…) first; there are 1", tk::error);
  const auto found = told.tell(toy_pipeline, 10min, 1, "");
  CHECK_THROWS_WITH_AS(static_cast<void>(found.what.steps("modle")),
                       "there is no stage 'modle'; there are 'judge', 'model', 'sampler', 'source'", tk::error);
  told.option("stpes", 3);
  CHECK_THROWS_WITH_AS(static_cast<void>(told.tell(toy_pipeline, 10min, 1, "")), "the graph has no option 'stpes'",
                       tk::error);
}

TEST_CASE("a story gives the graph its options, and its seed") {
  std::uint64_t seed = 0;
  std::size_t steps = 0;
  const auto build = [&](tk::graph& g) {
    toy::shape shape;
    shape.steps = steps = g.option<std::size_t>("steps", 4, "");
    seed = g.seed();
    toy::build(g, shape);
  };
  story told;
  CHECK(told.tell(build, 10min, 1, "").what.steps("model") == 4);
  told.option("steps", 3).option("seed", 9);
  CHECK(told.tell(build, 10min, 1, "").what.steps("model") == 3);
  CHECK(seed == 9);
}

TEST_CASE("what was seen of the steps: their times and staleness") {
  const auto what = on_nodes().tell(toy_pipeline, 10min, 1, "").what;
  tk::duration sum{0};
  for (const tk::duration each : what.step_times("model"))
    sum += each;
  CHECK(what.step_times("model").size() == 20);
  CHECK(sum == what.steps_of("model").back().at);
  std::size_t steps = 0;
  for (const auto& [versions, count] : what.staleness("model")) {
    CHECK(versions <= what.staleness_max("model"));
    steps += count;
  }
  CHECK(steps == 20);
}
