// SPDX-License-Identifier: Apache-2.0
// Edges that filter, fan out, and let rows pass as they are completed: in virtual time, under many schedules.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <vector>

#include "numbers.hpp"
#include "twinkle/flow/context.hpp"
#include "twinkle/flow/emitter.hpp"
#include "twinkle/flow/graph.hpp"
#include "twinkle/runtime/session.hpp"
#include "twinkle/sim/simulate.hpp"

namespace tk = twinkle;
using namespace std::chrono_literals;
using std::chrono::duration_cast;

using numbers::number;
using numbers::source;

namespace {

// The higher its data rank, the longer it takes; the last one far longer.
struct sampler {
  tk::batch sample(tk::context& ctx, tk::batch rows) {
    ctx.sleep_for(ctx.data_rank() == 3 ? duration_cast<tk::duration>(5min) : duration_cast<tk::duration>(1s));
    return rows;
  }
  void stream(tk::context& ctx, const tk::batch& rows, tk::emitter& out) {
    for (std::size_t row = rows.rows(); row > 0; --row) {
      ctx.sleep_for(1min);
      out(row - 1, rows[tk::interval{row - 1, row}]);
    }
  }
};

// What came, and when.
struct ledger {
  std::vector<std::vector<std::int64_t>> batches;
  std::map<std::int64_t, tk::time_point> first;
};

struct sink {
  ledger* into;
  explicit sink(ledger* of) : into(of) {}

  tk::metrics train(tk::context& ctx, const tk::batch& rows) {
    std::vector<std::int64_t> values(rows[number].begin(), rows[number].end());
    for (const std::int64_t each : values)
      into->first.emplace(each, ctx.now());
    into->batches.push_back(std::move(values));
    return {};
  }
};

const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
const tk::device_group rollout{.name = "rollout", .ranks = 4};

std::set<std::int64_t> all_of(const ledger& seen) {
  std::set<std::int64_t> found;
  for (const auto& each : seen.batches)
    for (const std::int64_t value : each)
      CHECK(found.insert(value).second);
  return found;
}

}  // namespace

TEST_CASE("as completed, rows of quick workers do not wait for a slow one; ordered, they do") {
  for (const bool ordered : {true, false}) {
    ledger seen;
    tk::graph g{"tail"};
    auto samplers = g.spawn<sampler>("sampler", {rollout});
    auto sinks = g.spawn<sink>("sink", {host}, &seen);
    auto rows = g.spawn<source>("source", {host}, std::size_t{1}).emits(&source::next).to(samplers, &sampler::sample);
    (ordered ? rows : rows.as_completed()).to(sinks, &sink::train);
    const auto end = tk::sim::simulate(g);
    CHECK(end.ended);
    CHECK(end.violations.empty());
    CHECK(end.report.good());
    CHECK(all_of(seen).size() == 8);
    CHECK(end.report.trained == 8);
    CHECK(end.report.returned == 0);
    CHECK((seen.first.at(0) == 1s) == !ordered);
    CHECK(seen.first.at(7) == 5min);
  }
}

TEST_CASE("an emitter's rows go on parent by parent, and each batch is in the order of identities") {
  std::set<std::uint64_t> histories;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    ledger seen;
    tk::graph g{"emitted"};
    auto samplers = g.spawn<sampler>("sampler", {rollout});
    auto sinks = g.spawn<sink>("sink", {host}, &seen);
    g.spawn<source>("source", {host}, std::size_t{3})
        .emits(&source::next)
        .to(samplers, &sampler::stream, {.name = "stream"})
        .as_completed()
        .rebatch(4)
        .to(sinks, &sink::train);
    const auto end = tk::sim::simulate(g, {.seed = seed});
    CHECK(end.ended);
    CHECK(end.violations.empty());
    CHECK(end.report.good());
    CHECK(all_of(seen).size() == 24);
    CHECK(seen.batches.size() == 6);
    for (const auto& each : seen.batches)
      CHECK(std::is_sorted(each.begin(), each.end()));
    CHECK(seen.first.at(1) == 1min);  // the second row of its worker is emitted first
    histories.insert(end.history);
  }
  CHECK(histories.size() > 10);
}

TEST_CASE("what replicas and padded ranks emit does not go on") {
  for (const auto& [sizes, count] : {std::pair{tk::mesh_sizes{.dp_size = 2, .tp_size = 2}, 8},
                                     std::pair{tk::mesh_sizes{.dp_size = 2, .pp_size = 2}, 8},
                                     std::pair{tk::mesh_sizes{.dp_size = 16}, 8}}) {
    ledger seen;
    tk::graph g{"replicas"};
    const auto mesh = tk::device_mesh::from_sizes(sizes);
    auto samplers = g.spawn<sampler>("sampler", {{.name = "many", .ranks = mesh.world_size()}, mesh});
    auto sinks = g.spawn<sink>("sink", {host}, &seen);
    g.spawn<source>("source", {host}, std::size_t{1})
        .emits(&source::next)
        .to(samplers, &sampler::stream, {.name = "stream", .small = tk::small::pad})
        .as_completed()
        .to(sinks, &sink::train);
    const auto end = tk::sim::simulate(g);
    CHECK(end.ended);
    CHECK(end.violations.empty());
    CHECK(end.report.good());
    CHECK(all_of(seen).size() == static_cast<std::size_t>(count));
    CHECK(end.report.trained == 8);
  }
}

TEST_CASE("an emitter on an ordered edge gives the rows in the order of the input, on threads as in simulation") {
  ledger seen;
  tk::graph g{"ordered"};
  auto doubles = g.spawn<sampler>("sampler", {rollout});
  auto sinks = g.spawn<sink>("sink", {host}, &seen);
  g.spawn<source>("source", {host}, std::size_t{1}).emits(&source::next).to(doubles, &sampler::stream).to(sinks, &sink::train);
  CHECK(tk::sim::simulate(g).report.good());
  CHECK(seen.batches == std::vector<std::vector<std::int64_t>>{{0, 1, 2, 3, 4, 5, 6, 7}});
}

TEST_CASE("case K-F2: a filter drops rows by name, and batches are of what is left, or refilled") {
  for (const bool refill : {false, true}) {
    ledger seen;
    tk::graph g{"filtered"};
    auto sinks = g.spawn<sink>("sink", {host}, &seen);
    g.spawn<source>("source", {host}, std::size_t{3})
        .emits(&source::next)
        .filter(number, [](std::int64_t each) { return each % 4 != 1; }, "one in four")
        .rebatch(8, {.refill = refill})
        .to(sinks, &sink::train);
    const auto end = tk::sim::simulate(g);
    CHECK(end.ended);
    CHECK(end.violations.empty());
    CHECK(end.report.good());
    CHECK(all_of(seen).size() == 18);
    CHECK(end.report.trained == 24);  // tombstones are accounted for with those who took them
    CHECK(seen.batches.front().size() == (refill ? 8 : 6));
  }
}

TEST_CASE("a stream that is used twice fans out: each branch gets every row, and the slow one holds the quick one") {
  ledger quick;
  ledger slow;
  tk::graph g{"fan_out"};
  auto samplers = g.spawn<sampler>("sampler", {rollout});
  auto rows = g.spawn<source>("source", {host}, std::size_t{6}).emits(&source::next);
  rows.to(g.spawn<sink>("quick", {host}, &quick), &sink::train);
  rows.to(samplers, &sampler::sample).to(g.spawn<sink>("slow", {host}, &slow), &sink::train);
  const auto end = tk::sim::simulate(g);
  CHECK(end.ended);
  CHECK(end.violations.empty());
  CHECK(end.report.good());
  CHECK(all_of(quick).size() == 48);
  CHECK(all_of(slow).size() == 48);
}

TEST_CASE("case K-F4: 64 rows of 8 children each and rebatch(512) neither stick nor need buffers by hand") {
  struct family {
    static tk::emission emits(int) { return {.rows = 64, .least = 64}; }
    explicit family(int) {}
    int left = 4;
    std::optional<tk::batch> next(tk::context&) {
      if (left-- == 0)
        return std::nullopt;
      return tk::batch{}.with(number, std::vector<std::int64_t>(64, left));
    }
  };
  struct eight {
    tk::batch each(tk::context&, const tk::batch& rows) {
      std::vector<std::size_t> parents;
      for (std::size_t row = 0; row < rows.rows(); ++row)
        parents.insert(parents.end(), 8, row);
      return rows.expand(parents);
    }
  };
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    ledger seen;
    tk::graph g{"families"};
    auto makers = g.spawn<eight>("eight", {rollout});
    auto sinks = g.spawn<sink>("sink", {host}, &seen);
    g.spawn<family>("family", {host}, 0).emits(&family::next).to(makers, &eight::each, {.expands = 8})
        .group_by(tk::parent).rebatch(512).to(sinks, &sink::train);
    const auto end = tk::sim::simulate(g, {.seed = seed});
    CHECK(end.ended);
    CHECK(end.violations.empty());
    CHECK(end.report.trained == 2048);
    REQUIRE(seen.batches.size() == 4);
    CHECK(seen.batches.front().size() == 512);
  }
}

TEST_CASE("what filters and edges as completed cannot keep is refused before a run") {
  ledger seen;
  tk::graph g{"refused"};
  auto sinks = g.spawn<sink>("sink", {{.name = "two", .ranks = 2}}, &seen);
  g.spawn<source>("source", {host}, std::size_t{3})
      .emits(&source::next)
      .filter(number, [](std::int64_t) { return true; }, "none")
      .to(sinks, &sink::train, {.name = "train"});
  CHECK_THROWS_WITH_AS((void)tk::sim::simulate(g), doctest::Contains("sink.train may get as few as 1 rows"), tk::error);
}

TEST_CASE("case K-F4: a fan-out whose branches meet in zip does not stick, though one branch holds many rows back") {
  struct scorer {
    tk::batch score(tk::context& ctx, const tk::batch& rows) {
      ctx.sleep_for(1s);
      std::vector<double> values;
      for (const std::int64_t each : rows[number])
        values.push_back(0.5 * static_cast<double>(each));
      return rows.with(tk::column<double>{"score"}, values);
    }
  };
  struct checker {
    std::size_t* seen;
    explicit checker(std::size_t* count) : seen(count) {}
    tk::metrics check(tk::context&, const tk::batch& rows) {
      for (std::size_t row = 0; row < rows.rows(); ++row)
        if (rows[tk::column<double>{"score"}][row] == 0.5 * static_cast<double>(rows[number][row]))
          ++*seen;
      return {};
    }
  };
  std::set<std::uint64_t> histories;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::size_t seen = 0;
    tk::graph g{"reconvergent"};
    auto samplers = g.spawn<sampler>("sampler", {{.name = "quick", .ranks = 2}});
    auto scorers = g.spawn<scorer>("scorer", {rollout});
    auto checkers = g.spawn<checker>("checker", {host}, &seen);
    auto rows = g.spawn<source>("source", {host}, std::size_t{16}).emits(&source::next);
    const auto quick = rows.to(samplers, &sampler::sample, {.name = "sample"});
    const auto slow = rows.rebatch(64).to(scorers, &scorer::score, {.name = "score", .small = tk::small::allow_empty});
    tk::zip(quick, slow).rebatch(16).to(checkers, &checker::check);
    const auto end = tk::sim::simulate(g, {.seed = seed});
    CHECK(end.ended);
    CHECK(end.violations.empty());
    CHECK_MESSAGE(end.report.good(), (end.report.why ? end.report.why->cause : ""));
    CHECK(seen == 128);
    histories.insert(end.history);
  }
  CHECK(histories.size() > 5);
}

TEST_CASE("what zip cannot put together is refused before a run") {
  ledger seen;
  tk::graph g{"refused"};
  auto samplers = g.spawn<sampler>("sampler", {rollout});
  auto sinks = g.spawn<sink>("sink", {host}, &seen);
  auto one = g.spawn<source>("one", {host}, std::size_t{1}).emits(&source::next, {.name = "next"});
  auto other = g.spawn<source>("other", {host}, std::size_t{1}).emits(&source::next, {.name = "next"});
  tk::zip(one.to(samplers, &sampler::sample, {.name = "sample"}), other).to(sinks, &sink::train, {.name = "train"});
  CHECK_THROWS_WITH_AS((void)tk::sim::simulate(g), doctest::Contains("both must come from one stream"), tk::error);
}

TEST_CASE("a batch of which nothing is left passes a sink that counts no steps") {
  ledger seen;
  tk::graph g{"nothing"};
  auto sinks = g.spawn<sink>("sink", {host}, &seen);
  g.spawn<source>("source", {host}, std::size_t{3})
      .emits(&source::next)
      .filter(number, [](std::int64_t each) { return each >= 8 && each < 12; }, "outside")
      .to(sinks, &sink::train);
  const auto end = tk::sim::simulate(g);
  CHECK(end.ended);
  CHECK(end.violations.empty());
  CHECK_MESSAGE(end.report.good(), (end.report.why ? end.report.why->cause : ""));
  CHECK(seen.batches == std::vector<std::vector<std::int64_t>>{{8, 9, 10, 11}});
  CHECK(end.report.trained == 24);
}

TEST_CASE("a worker that fails after some of its rows went on leaves every row accounted for") {
  struct failing {
    void stream(tk::context& ctx, const tk::batch& rows, tk::emitter& out) {
      out(0, rows[tk::interval{0, 1}]);
      ctx.sleep_for(1s);
      throw tk::error("out of memory");
    }
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ledger seen;
    tk::graph g{"failing"};
    auto workers = g.spawn<failing>("failing", {rollout});
    auto sinks = g.spawn<sink>("sink", {host}, &seen);
    g.spawn<source>("source", {host}, std::size_t{1})
        .emits(&source::next)
        .to(workers, &failing::stream)
        .as_completed()
        .to(sinks, &sink::train);
    const auto end = tk::sim::simulate(g, {.seed = seed});
    REQUIRE(end.report.why);
    CHECK(end.report.why->cause == "out of memory");
    CHECK(end.report.trained + end.report.returned == 8);
    CHECK(end.report.trained == all_of(seen).size());
  }
}

TEST_CASE("branches of a zip that expand their rows are told, and do not wait for each other") {
  struct expander {
    tk::batch same(tk::context&, const tk::batch& rows) {
      std::vector<std::size_t> parents(rows.rows());
      for (std::size_t row = 0; row < parents.size(); ++row)
        parents[row] = row;
      return rows.expand(parents);
    }
  };
  ledger seen;
  tk::graph g{"expands"};
  auto expanders = g.spawn<expander>("expander", {rollout});
  auto sinks = g.spawn<sink>("sink", {host}, &seen);
  auto rows = g.spawn<source>("source", {host}, std::size_t{4}).emits(&source::next);
  tk::zip(rows, rows.to(expanders, &expander::same, {.name = "same"})).to(sinks, &sink::train);
  const auto end = tk::sim::simulate(g);
  CHECK(end.ended);
  CHECK(end.violations.empty());
  REQUIRE(end.report.why);
  CHECK(end.report.why->cause.find("neither branch may expand its rows") != std::string::npos);
}

TEST_CASE("a stream into an endpoint that returns batches must collect all of them") {
  ledger seen;
  tk::graph g{"refused"};
  auto samplers = g.spawn<sampler>("sampler", {rollout});
  g.spawn<source>("source", {host}, std::size_t{1})
      .emits(&source::next)
      .to(samplers, &sampler::sample, {.name = "sample", .collect = tk::collect::first})
      .to(g.spawn<sink>("sink", {host}, &seen), &sink::train);
  CHECK_THROWS_WITH_AS((void)tk::sim::simulate(g), doctest::Contains("sampler.sample returns batches into a stream"), tk::error);
}
