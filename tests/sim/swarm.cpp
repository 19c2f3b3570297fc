// SPDX-License-Identifier: Apache-2.0
#include "twinkle/sim/swarm.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "flow/pipelines.hpp"
#include "for_all.hpp"

using namespace std::chrono_literals;
using twinkle::failing;
using twinkle::sim::draw_swarm;
using twinkle::sim::mishap;
using twinkle::sim::swarm;
using kind = mishap::kind;

namespace {

struct resilience {
  std::size_t retries = 0;
  std::size_t respawns = 0;
  failing failed = failing::ends_run;
};

// prompts, two samplers of two devices and a model, over a node each.
struct placed_pipeline {
  explicit placed_pipeline(const resilience& of, std::size_t nodes = 3)
      : graph(flow_test::pipeline({
            .rollout = {.name = "rollout", .ranks = {2, 3}},
            .training = {.name = "training", .ranks = {0, 1}},
            .sample = {.name = "sample", .expands = 4, .retries = of.retries, .failed = of.failed},
            .respawns = of.respawns,
        })) {
    twinkle::place::cluster machines;
    for (std::size_t node = 0; node < nodes; ++node)
      machines.nodes.push_back({.name = std::string(1, static_cast<char>('a' + node)), .devices = 6 / nodes, .cpus = 4});
    layout = twinkle::place::lay_out(graph.plan(), machines);
    REQUIRE(layout.problems.empty());
  }

  [[nodiscard]] swarm draw(std::uint64_t seed, const twinkle::sim::swarm_options& how = {}) const {
    return draw_swarm(seed, graph.plan(), layout, how);
  }

  twinkle::graph graph;
  twinkle::place::layout layout;
};

std::size_t count(const swarm& in, kind what) {
  return static_cast<std::size_t>(
      std::count_if(in.mishaps.begin(), in.mishaps.end(), [&](const mishap& each) { return each.what == what; }));
}

std::set<kind> kinds_of(const placed_pipeline& of) {
  std::set<kind> seen;
  for (std::uint64_t seed = 1; seed <= 300; ++seed)
    for (const mishap& each : of.draw(seed).mishaps)
      seen.insert(each.what);
  return seen;
}

}  // namespace

TEST_CASE("a seed draws the same world on every machine, and another seed another") {
  const placed_pipeline of{{.retries = 2, .respawns = 2}};
  const swarm drawn = of.draw(3);
  CHECK(drawn.mishaps == of.draw(3).mishaps);
  CHECK(drawn.mishaps != of.draw(4).mishaps);
  std::string text;
  for (const mishap& each : drawn.mishaps)
    text += to_string(each) + "\n";
  CHECK(text ==
        "at 12.157s sampler stalls for 151.1ms\n"
        "at 14.466s model stalls for 118.5ms\n"
        "at 23.252s prompts stalls for 324.5ms\n"
        "at 26.008s b freezes for 236.5ms\n"
        "at 29.358s prompts[0] is 8 times as slow for 169.6ms\n"
        "at 48.095s model[1] is 7 times as slow for 560.3ms\n"
        "at 48.277s b freezes for 124.4ms\n"
        "at 55.911s b freezes for 1.487s\n");
}

TEST_CASE("every kind of mishap is drawn where the graph survives it") {
  CHECK(kinds_of(placed_pipeline{{.retries = 4, .respawns = 4}}).size() == 10);
}

TEST_CASE("a graph that cannot go on without a worker meets what is late, and loses only the node that has none") {
  const placed_pipeline of{{}};
  CHECK(kinds_of(of) == std::set<kind>{kind::slows, kind::drags, kind::late_weights, kind::stalls, kind::node_dies,
                                       kind::node_freezes, kind::cut});
  for (std::uint64_t seed = 1; seed <= 300; ++seed)
    for (const mishap& each : of.draw(seed).mishaps)
      if (each.what == kind::node_dies)
        CHECK(each.node == "c");
}

TEST_CASE("on one node nothing happens to nodes") {
  CHECK(kinds_of(placed_pipeline{{.retries = 4, .respawns = 4}, 1}) ==
        std::set<kind>{kind::slows, kind::drags, kind::throws, kind::hangs, kind::dies, kind::late_weights, kind::stalls});
}

TEST_CASE("some worlds have one kind of mishap only, and some have none") {
  const placed_pipeline of{{.retries = 4, .respawns = 4}};
  std::map<std::size_t, std::size_t> worlds;  // by number of kinds
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::set<kind> seen;
    for (const mishap& each : of.draw(seed).mishaps)
      seen.insert(each.what);
    ++worlds[seen.size()];
  }
  CHECK(worlds[0] > 10);
  CHECK(worlds[1] > 10);
  CHECK(worlds.rbegin()->first > 4);
}

TEST_CASE("all that goes wrong in a world is legal, and no more than retries, respawns and other workers make good") {
  for_all([] {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto retries = *rc::gen::inRange<std::size_t>(0, 4);
    const auto respawns = retries == 0 ? 0 : *rc::gen::inRange<std::size_t>(0, 4);
    const twinkle::sim::swarm_options how{.until = 20s, .mishaps_max = 30, .lasts_max = 8s, .patience = 3s};
    const placed_pipeline of{{.retries = retries, .respawns = respawns}};
    const swarm drawn = of.draw(seed, how);

    RC_ASSERT(drawn.latency_min <= drawn.latency_max);
    RC_ASSERT(drawn.latency_max <= how.latency_max);
    RC_ASSERT(drawn.mishaps.size() <= how.mishaps_max);
    std::size_t failures = 0;
    std::size_t deaths = 0;
    twinkle::time_point before{0};
    for (const mishap& each : drawn.mishaps) {
      RC_ASSERT(each.at >= std::max(before, how.from));
      RC_ASSERT(each.at <= how.until);
      RC_ASSERT(each.lasts >= 0s);
      RC_ASSERT(each.lasts <= how.lasts_max);
      before = each.at;
      if (each.what == kind::late_weights || each.what == kind::throws || each.what == kind::hangs ||
          each.what == kind::dies)
        RC_ASSERT(each.stage == "sampler");
      if (each.what == kind::slows)
        RC_ASSERT((each.factor > 1 && each.factor <= 10));
      if (each.what >= kind::node_dies)
        RC_ASSERT((each.what == kind::cut ? each.node != each.other && (each.other == "b" || each.other == "c")
                                          : each.node == "b" || each.node == "c"));
      if (each.what == kind::cut && each.node != "a")
        RC_ASSERT(each.lasts < how.patience);
      const std::string& away = each.what == kind::cut ? each.other : each.node;
      const bool both = away == "b" && (each.what == kind::node_dies || each.lasts >= how.patience);
      const bool one = each.what == kind::throws || each.what == kind::hangs || each.what == kind::dies;
      failures += both ? 2 : one ? 1 : 0;
      deaths += both ? 2 : one && each.what != kind::throws ? 1 : 0;
    }
    RC_ASSERT(failures <= retries);
    RC_ASSERT(deaths <= respawns + 1);
  });
}

TEST_CASE("as many bodies throw as there are retries, or as many as are drawn where lost rows are named instead") {
  const auto throws_most = [](const placed_pipeline& of) {
    std::size_t most = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed)
      most = std::max(most, count(of.draw(seed, {.mishaps_max = 30}), kind::throws));
    return most;
  };
  CHECK(throws_most(placed_pipeline{{.retries = 1}}) == 1);
  CHECK(throws_most(placed_pipeline{{.failed = failing::drops_rows}}) > 1);
}

TEST_CASE("where all rows are fetched, a node that makes rows is lost only where these may be lost") {
  const auto drawn = [](const resilience& what, bool fetches_all) {
    const placed_pipeline of{what};
    bool makers = false;
    for (std::uint64_t seed = 1; seed <= 300; ++seed)
      if (const swarm world = of.draw(seed); world.fetches_all == fetches_all)
        for (const mishap& each : world.mishaps)
          makers = makers || (each.what == kind::node_dies && each.node == "b");
    return makers;
  };
  CHECK(drawn({.retries = 4, .respawns = 4}, false));
  CHECK_FALSE(drawn({.retries = 4, .respawns = 4}, true));
  CHECK(drawn({.retries = 4, .respawns = 4, .failed = failing::drops_rows}, true));
}

TEST_CASE("what is only late is not as late as a deadline") {
  twinkle::graph g = flow_test::pipeline({.sample = {.name = "sample", .expands = 4, .deadline = 1s}});
  const auto placed = twinkle::place::lay_out(g.plan());
  for (std::uint64_t seed = 1; seed <= 100; ++seed)
    for (const mishap& each : draw_swarm(seed, g.plan(), placed).mishaps)
      CHECK(each.lasts <= 250ms);
}
