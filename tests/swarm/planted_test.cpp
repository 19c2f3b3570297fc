// SPDX-License-Identifier: Apache-2.0
// The oracles bite: a stage that decides wrongly is found by the oracle that is there for it, and by how little.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

#include "stories/toy.hpp"
#include "twinkle/place/layout.hpp"
#include "twinkle/sim/shrink.hpp"
#include "twinkle/sim/simulate.hpp"
#include "twinkle/sim/swarm.hpp"

namespace tk = twinkle;
using namespace std::chrono_literals;
using mishaps = std::vector<tk::sim::mishap>;

namespace {

/// What a stage decides by in place of what is right.
struct bug {
  tk::stage_policies policies = {};
  std::shared_ptr<tk::sim::observer> sees = nullptr;  ///< that a policy decides by, besides what it is asked
};

struct trial {
  std::string oracle;                ///< that is to find the bug
  std::function<bug()> plant;        ///< for each run anew, for a bug may remember
  tk::graph graph;
  std::vector<tk::sim::rule> costs;  ///< of bodies, so that mishaps find a run to fall into
};

tk::sim::outcome run(const trial& of, std::uint64_t seed, const mishaps& wrong, const bug& with = {}) {
  tk::sim::options how{.seed = seed};
  how.until = 1h;  // what is stuck is seen to be by then
  how.rules = of.costs;
  how.mishaps = wrong;
  how.policies = with.policies;
  if (with.sees)
    how.observers.push_back(with.sees.get());
  return tk::sim::simulate(of.graph, how);
}

bool finds(const trial& of, std::uint64_t seed, const mishaps& wrong) {
  const auto seen = run(of, seed, wrong, of.plant());
  return std::any_of(seen.violations.begin(), seen.violations.end(),
                     [&](const auto& each) { return each.oracle == of.oracle; });
}

/// In 1,000 seeds at most; in the same runs nothing is found where all is right. What is left of the mishaps by which
/// it is found.
void check_found(const trial& of) {
  const tk::place::layout placed = tk::place::lay_out(of.graph.plan());
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    const mishaps drawn = tk::sim::draw_swarm(seed, of.graph.plan(), placed, {.until = 1s, .lasts_max = 1s}).mishaps;
    const auto right = run(of, seed, drawn);
    CHECK(right.ended);
    for (const auto& each : right.violations)
      FAIL_CHECK(to_string(each));
    if (!finds(of, seed, drawn))
      continue;
    const auto least = tk::sim::shrink(drawn, [&](const mishaps& some) { return finds(of, seed, some); });
    CHECK(least.mishaps.size() <= 2);
    return;
  }
  FAIL_CHECK("the oracle of ", of.oracle, " found nothing in 1,000 seeds");
}

tk::duration some_time(tk::sim::work of) { return tk::duration(10ms) * (1 + static_cast<int>(of.random.below(10))); }

std::vector<tk::sim::rule> costs() {
  return {tk::sim::cost("sampler", &toy::sampler::sample, some_time), tk::sim::cost("model", &toy::model::train, some_time)};
}

// The results of the workers behind each other as they came.
tk::result<tk::collected> collect_as_they_come(const tk::route::team& team, const tk::route::call& of,
                                               std::span<const tk::route::returned> results) {
  if (results.empty() || !std::holds_alternative<tk::batch>(results.front().value))
    return tk::route::collect_in_order(team, of, results);
  std::vector<tk::batch> parts(results.size());
  for (const tk::route::returned& each : results)
    parts[each.order] = std::get<tk::batch>(each.value);
  return tk::collected{tk::payload{tk::batch::concat(parts)}};
}

// Whoever takes over a part of a call takes a credit for it, which is of no row and never goes back.
class credit_for_each_try final : public tk::sim::observer {
 public:
  void on_delivery(tk::time_point, const tk::address&, const tk::address&, const tk::message& what) override {
    if (std::holds_alternative<tk::msg::setback>(what))
      ++tries_;
  }
  [[nodiscard]] std::size_t left_of(std::size_t rows) { return rows - std::min(rows, std::exchange(tries_, 0)); }

 private:
  std::size_t tries_ = 0;
};

// Groups are whole when as many rows are there as their parents have children: those that were dropped never come.
class group_by_rows_alone final : public tk::regrouper {
 public:
  [[nodiscard]] std::vector<tk::batch> add(const tk::batch& rows) override {
    return groups_.add(rows.without_tombstones());
  }
  [[nodiscard]] std::vector<tk::batch> end() override { return groups_.end(); }
  [[nodiscard]] std::size_t held() const override { return groups_.held(); }

 private:
  tk::group_by_parent groups_;
};

struct scorer {
  tk::batch score(tk::context&, const tk::batch& rows) { return rows; }
};

const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};

// How long it takes depends on the row and on who works on it; what it has begun it ends, whatever it is told.
struct solver {
  tk::batch solve(tk::context& ctx, const tk::batch& rows) {
    const std::string name = "time on " + std::to_string(ctx.data_rank());
    const tk::time_point ends = ctx.now() + tk::duration(1ms) * (10 + ctx.random(rows.tags()[0].id, name).below(200));
    while (ctx.now() < ends) {
      try {
        ctx.sleep_for(ends - ctx.now());
      } catch (const tk::stopped&) {
      }
    }
    return rows.with(toy::value, std::vector<double>(rows.rows(), 1));
  }
};

// Some rows come after their deadline, when another has them. What is done goes on, and nobody holds it together.
tk::graph hasty() {
  tk::graph g{"hasty"};
  auto numbers = g.spawn<toy::source>("source", {host}, std::size_t{8}, std::size_t{12});
  auto solvers = g.spawn<solver>("solver", {{.name = "solving", .ranks = 4}});
  auto trained = g.spawn<toy::model>("model", {{.name = "trainer", .ranks = 2}});
  numbers.emits(&toy::source::next, {.name = "next", .rows = 8})
      .to(solvers, &solver::solve, {.name = "solve", .deadline = 150ms, .retries = 8})
      .as_completed()
      .to(trained, &toy::model::train, {.name = "train"});
  return g;
}

// Three scorers for the children of eight rows: some siblings are with two of them. The bound holds the samplers back
// while nothing is trained.
tk::graph scored() {
  tk::graph g{"scored"};
  auto prompts = g.spawn<toy::source>("source", {host}, std::size_t{8}, std::size_t{1000});
  auto samplers = g.spawn<toy::sampler>("sampler", {{.name = "rollout", .ranks = 4}});
  auto scorers = g.spawn<scorer>("scorer", {{.name = "scoring", .ranks = 3}});
  auto trained = g.spawn<toy::model>("model", {{.name = "trainer", .ranks = 2}});
  prompts.emits(&toy::source::next, {.name = "next", .rows = 8})
      .to(samplers, &toy::sampler::sample, {.name = "sample", .expands = 2})
      .to(scorers, &scorer::score, {.name = "score", .failed = tk::failing::drops_rows})
      .group_by(tk::parent)
      .rebatch(16)
      .to(trained, &toy::model::train, {.name = "train", .max_staleness = 1})
      .stop_after(6);
  trained.publishes(&toy::model::state, {.after = &toy::model::train, .name = "state"})
      .to(samplers, &toy::sampler::load, {.name = "load"});
  return g;
}

}  // namespace

TEST_CASE("planted: results that are collected as they come are out of order") {
  check_found({"order", [] { return bug{{.collect = collect_as_they_come}}; }, toy::pipeline(), costs()});
}

TEST_CASE("planted: a credit that is lost with each retry is missed in the end") {
  const auto plant = [] {
    const auto sees = std::make_shared<credit_for_each_try>();
    return bug{{.credits = [sees](std::size_t rows) { return sees->left_of(rows); }}, sees};
  };
  check_found({"credits", plant, toy::pipeline({.batches = 10, .steps = 0, .retries = 3}), costs()});
}

TEST_CASE("planted: rows that are counted only as they are admitted are trained when they are stale") {
  // Each version has room for all the steps that the bound allows, and a row is as old as it was when it was admitted.
  const auto plant = [] {
    return bug{{
        .admits = [](std::size_t version, std::size_t bound, std::size_t rows_per_step) {
          return (version + 1) * (bound + 1) * rows_per_step;
        },
        .staleness = [](const tk::batch&, std::int64_t) { return std::int64_t{0}; },
    }};
  };
  check_found({"staleness", plant, toy::pipeline(), costs()});
}

TEST_CASE("planted: versions that are loaded newest first go backwards") {
  const auto newest_first = [](const std::deque<tk::weights>& waiting) { return waiting.size() - 1; };
  // The bound lets several versions wait for their place among the rows.
  check_found({"versions", [=] { return bug{{.next_load = newest_first}}; }, toy::pipeline({.steps = 12, .bound = 5}), costs()});
}

TEST_CASE("planted: a reply that counts though another worker took over trains its rows twice") {
  const auto any_reply = [](const tk::route::holder&, bool, const tk::route::holder&) { return true; };
  check_found({"rows", [=] { return bug{{.counts = any_reply}}; }, hasty(), {}});
}

TEST_CASE("planted: a group that does not count what was dropped of it waits for ever") {
  const auto plant = [] {
    return bug{{.regroup = [](const tk::blueprint::regroup& how,
                              const tk::stage_plan::in& on) -> std::unique_ptr<tk::regrouper> {
      if (how.how == tk::blueprint::regroup::kind::group_by_parent)
        return std::make_unique<group_by_rows_alone>();
      return tk::make_regrouper(how, on);
    }}};
  };
  check_found({"drains", plant, scored(), costs()});
}
