// SPDX-License-Identifier: Apache-2.0
// What the oracles say of real runs: nothing, whatever goes wrong, and what a wrong collector does, by name.
#include <doctest/doctest.h>

#include <memory>

#include "numbers.hpp"
#include "toy.hpp"
#include "twinkle/flow/emitter.hpp"
#include "twinkle/sim/simulate.hpp"

namespace tk = twinkle;
using namespace std::chrono_literals;
using numbers::number;

namespace {

/// A body of `sample` goes wrong in turn, each so many that begin.
toy::sabotage each_so_many(int many, std::function<void(tk::context&)> harm) {
  return [=, begun = std::make_shared<int>(0)](tk::context& ctx, const std::string& at) {
    if (at == "sample" && ++*begun % many == 0)
      harm(ctx);
  };
}

void break_down(tk::context&) { throw std::runtime_error("planted"); }

void check_silent(const tk::sim::outcome& seen) {
  REQUIRE(seen.ended);
  for (const tk::sim::violation& each : seen.violations)
    FAIL_CHECK(to_string(each));
}

struct worker {
  tk::batch pass(tk::context& ctx, const tk::batch& rows) {
    ctx.sleep_for(tk::duration(static_cast<tk::duration::rep>(ctx.data_rank())));
    return rows;
  }
  void stream(tk::context& ctx, const tk::batch& rows, tk::emitter& out) {
    for (std::size_t row = rows.rows(); row > 0; --row) {
      ctx.sleep_for(tk::duration(1));
      out(row - 1, rows[tk::interval{row - 1, row}].expand(std::vector<std::size_t>(3, 0)));
    }
  }
  tk::metrics take(tk::context&, const tk::batch&) { return {}; }
};

const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
const tk::device_group four{.name = "four", .ranks = 4};

/// Branches of one stream: one streams children of its rows in groups, two meet again in a zip.
tk::graph branches() {
  tk::graph g{"branches"};
  auto passes = g.spawn<worker>("pass", {four});
  auto streams = g.spawn<worker>("stream", {{.name = "streams", .ranks = 4}});
  auto again = g.spawn<worker>("again", {{.name = "others", .ranks = 2}});
  auto rows = g.spawn<numbers::source>("source", {host}, std::size_t{12}).emits(&numbers::source::next);
  const auto kept = rows.filter(number, [](std::int64_t each) { return each % 5 != 1; }, "one in five");
  kept.to(streams, &worker::stream, {.name = "stream", .small = tk::small::allow_empty, .expands = 3})
      .as_completed()
      .group_by(tk::parent)
      .rebatch(12)
      .to(g.spawn<worker>("grouped", {host}), &worker::take, {.name = "take"});
  const auto passed = rows.to(passes, &worker::pass, {.name = "pass"});
  tk::zip(passed, rows.rebatch(16).to(again, &worker::pass, {.name = "pass", .small = tk::small::allow_empty}))
      .filter(number, [](std::int64_t each) { return each % 7 != 2; }, "one in seven")
      .rebatch(5)
      .to(g.spawn<worker>("zipped", {host}), &worker::take, {.name = "take"});
  return g;
}

/// Loses a row of the second call of `sample`, and says nothing.
tk::result<tk::collected> collect_too_few(const tk::route::team& team, const tk::route::call& of,
                                          std::span<const tk::route::returned> results) {
  auto right = tk::route::collect_in_order(team, of, results);
  if (of.endpoint != "pass" || !right)
    return right;
  const tk::batch rows = std::get<tk::batch>(std::get<tk::payload>(right.value()));
  if (rows.tags()[0].id.sequence != 8)
    return right;
  return tk::collected{tk::payload{rows[tk::interval{0, 7}]}};
}

}  // namespace

TEST_CASE("no oracle complains of runs in which workers fail, hang, are replaced, lose rows, or are interrupted") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    check_silent(tk::sim::simulate(toy::pipeline({.harm = each_so_many(3, break_down), .retries = 2}), {.seed = seed}));
    check_silent(tk::sim::simulate(
        toy::pipeline({.harm = each_so_many(9, toy::ignore_everything), .retries = 2, .respawns = 20}), {.seed = seed}));
    check_silent(tk::sim::simulate(
        toy::pipeline({.harm = each_so_many(5, break_down), .failed = tk::failing::drops_rows}), {.seed = seed}));
    const auto slow = [](tk::context& ctx, const std::string&) { ctx.sleep_for(1s); };
    check_silent(tk::sim::simulate(toy::pipeline({.harm = slow}),
                                   {.seed = seed, .interrupt = std::chrono::milliseconds(700 * seed)}));
    check_silent(tk::sim::simulate(toy::pipeline({.batches = 5, .steps = 0}), {.seed = seed}));
  }
}

TEST_CASE("no oracle complains of a run that is killed and resumed") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    std::optional<tk::checkpoint> last;
    tk::sim::options how{.seed = seed, .save_every = 1, .dies_after = 100 + 20 * seed};
    how.on_saved = [&](const tk::checkpoint& made) { last = made; };
    check_silent(tk::sim::simulate(toy::pipeline({.keeps = true}), how));
    how.dies_after = std::nullopt;
    how.resumed = last;
    check_silent(tk::sim::simulate(toy::pipeline({.keeps = true}), how));
  }
}

TEST_CASE("no oracle complains of branches, filters, zips and edges as completed") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    const auto whole = tk::sim::simulate(branches(), {.seed = seed});
    check_silent(whole);
    CHECK(toy::why(whole.report) == "");
    CHECK(whole.report.returned == 0);
    const auto some_time = [](tk::sim::work of) { return tk::duration(std::chrono::milliseconds(1 + of.random.below(9))); };
    const auto cut_short = tk::sim::simulate(
        branches(), {.seed = seed, .lasts = some_time, .interrupt = std::chrono::milliseconds(seed)});
    check_silent(cut_short);
    CHECK(toy::why(cut_short.report) == "");
  }
}

TEST_CASE("a row that a collector leaves out without a word is named, with who had it last") {
  tk::graph g{"leaky"};
  auto passes = g.spawn<worker>("pass", {four});
  g.spawn<numbers::source>("source", {host}, std::size_t{3})
      .emits(&numbers::source::next)
      .to(passes, &worker::pass, {.name = "pass"})
      .to(g.spawn<worker>("end", {host}), &worker::take);
  const auto seen = tk::sim::simulate(g, {.policies = {.collect = collect_too_few}});
  REQUIRE(seen.ended);
  CHECK(seen.report.good());
  REQUIRE(seen.violations.size() == 1);
  CHECK(seen.violations[0].what ==
        "1 rows are neither trained nor dropped, lost or returned: row 1:15 (last seen in pass[dp=3])");
}
