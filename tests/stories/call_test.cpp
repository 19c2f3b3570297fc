// SPDX-License-Identifier: Apache-2.0
// A driver that calls: in virtual time under many schedules, and on threads.
#include <doctest/doctest.h>

#include <set>
#include <vector>

#include "twinkle/flow/caller.hpp"
#include "twinkle/flow/context.hpp"
#include "twinkle/runtime/session.hpp"
#include "twinkle/sim/simulate.hpp"

namespace tk = twinkle;
using namespace std::chrono_literals;

namespace {

constexpr tk::column<std::int64_t> number{"number"};
const tk::device_group four{.name = "four", .ranks = 4};
const tk::device_group eight{.name = "eight", .ranks = 8};

tk::batch numbers(std::size_t count, std::int64_t first = 0) {
  std::vector<std::int64_t> values;
  for (std::size_t at = 0; at < count; ++at)
    values.push_back(first + static_cast<std::int64_t>(at));
  return tk::batch{}.with(number, values);
}

std::vector<std::int64_t> values_of(const tk::batch& rows) { return {rows[number].begin(), rows[number].end()}; }

struct sampler {
  tk::batch twice(tk::context& ctx, tk::batch rows) {
    ctx.sleep_for(std::chrono::milliseconds(10 * (4 - ctx.data_rank())));
    std::vector<std::size_t> parents;
    for (std::size_t row = 0; row < rows.rows(); ++row)
      parents.insert(parents.end(), 2, row);
    return rows.expand(parents);
  }
  tk::batch broken(tk::context& ctx, tk::batch rows) {
    if (ctx.data_rank() == 2)
      throw tk::error("out of memory");
    ctx.sleep_for(1h);
    return rows;
  }
  std::string where(tk::context& ctx, std::int64_t add) { return std::to_string(ctx.rank() + static_cast<std::size_t>(add)); }
};

struct model {
  std::int64_t total = 0;
  tk::metrics sum(tk::context& ctx, tk::batch rows) {
    for (const std::int64_t each : values_of(rows))
      total += each;
    ctx.peers().barrier();
    return tk::metrics{}.sum("sum", static_cast<double>(total));
  }
  tk::metrics both(tk::context&, tk::batch a, double weight, tk::batch b) {
    double sum = 0;
    for (std::size_t row = 0; row < a.rows(); ++row)
      sum += weight * static_cast<double>(a[number][row] * b[number][row]);
    return tk::metrics{}.sum("sum", sum);
  }
  void reset(tk::context&) { total = 0; }
};

// A graph of both, driven by `with`, which gets the endpoints.
struct endpoints {
  tk::callable<tk::batch(tk::batch)> twice;
  tk::callable<tk::batch(tk::batch)> broken;
  tk::callable<std::string(std::int64_t)> where;
  tk::callable<tk::metrics(tk::batch)> sum;
  tk::callable<tk::metrics(tk::batch, double, tk::batch)> both;
  tk::callable<void()> reset;
};

tk::graph driven(std::function<void(tk::caller&, const endpoints&)> with) {
  tk::graph g{"driven"};
  auto samplers = g.spawn<sampler>("sampler", {four});
  auto trainer = g.spawn<model>("model", {eight, tk::device_mesh::from_sizes({.dp_size = 2, .pp_size = 2, .tp_size = 2})});
  const endpoints all{samplers.endpoint(&sampler::twice, {.name = "twice"}),
                      samplers.endpoint(&sampler::broken, {.name = "broken"}),
                      samplers.endpoint(&sampler::where, {.name = "where"}),
                      trainer.endpoint(&model::sum, {.name = "sum"}),
                      trainer.endpoint(&model::both, {.name = "both"}),
                      trainer.endpoint(&model::reset, {.name = "reset"})};
  g.drive([with = std::move(with), all](tk::caller& calls) { with(calls, all); });
  return g;
}

tk::run_report run_for_real(const tk::graph& g) {
  tk::run_listener nobody;
  return tk::run(g, {}, nobody);
}

}  // namespace

TEST_CASE("futures chain from stage to stage, whatever order things happen in, and on threads") {
  double sum = 0;
  std::vector<std::int64_t> rows;
  const auto g = driven([&](tk::caller& calls, const endpoints& of) {
    const auto sequences = calls(of.twice, numbers(6));
    sum = calls(of.sum, sequences).get().find("sum").value();
    rows = values_of(sequences.get());
  });
  std::set<std::uint64_t> histories;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    sum = 0;
    const auto seen = tk::sim::simulate(g, {.seed = seed});
    REQUIRE(seen.ended);
    CHECK(seen.report.good());
    CHECK(sum == 30);
    CHECK(rows == std::vector<std::int64_t>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
    histories.insert(seen.history);
  }
  CHECK(histories.size() > 20);
  sum = 0;
  CHECK(run_for_real(g).good());
  CHECK(sum == 30);
}

TEST_CASE("several calls are in flight at once, and a stage runs them in the order in which they were made") {
  std::vector<double> sums;
  tk::time_point took{};
  const auto g = driven([&](tk::caller& calls, const endpoints& of) {
    const auto start = calls.now();
    std::vector<tk::future<tk::batch>> sequences;
    for (std::int64_t at = 0; at < 3; ++at)
      sequences.push_back(calls(of.twice, numbers(4, 10 * at)));
    std::vector<tk::future<tk::metrics>> totals;
    for (const auto& each : sequences)
      totals.push_back(calls(of.sum, each));
    calls(of.reset).get();
    totals.push_back(calls(of.sum, sequences.front()));
    for (const auto& each : totals)
      sums.push_back(each.get().find("sum").value());
    took = calls.now() - start;
  });
  const auto seen = tk::sim::simulate(g);
  CHECK(seen.report.good());
  CHECK(sums == std::vector<double>{12, 12 + 92, 12 + 92 + 172, 12});
  CHECK(took == 120ms);  // three calls of 40 ms for the slowest sampler
}

TEST_CASE("control endpoints answer for each worker, and their arguments go to all") {
  std::vector<std::string> ranks;
  const auto g = driven([&](tk::caller& calls, const endpoints& of) {
    const auto answer = calls(of.where, 10);
    ranks = answer.each();
    CHECK_THROWS_WITH_AS((void)answer.get(), doctest::Contains("4 results"), tk::error);
  });
  const auto seen = tk::sim::simulate(g);
  CHECK(seen.ended);
  CHECK(seen.report.good());
  CHECK(ranks == std::vector<std::string>{"10", "11", "12", "13"});
}

TEST_CASE("batches of one call are cut alike, beside arguments that all get") {
  double sum = 0;
  const auto g = driven([&](tk::caller& calls, const endpoints& of) {
    const auto pending = calls(of.twice, numbers(4));
    sum = calls(of.both, pending, 0.5, numbers(8, 1)).get().find("sum").value();
  });
  const auto seen = tk::sim::simulate(g);
  CHECK(seen.ended);
  CHECK(seen.report.good());
  CHECK(sum == 0.5 * (0 * 1 + 0 * 2 + 1 * 3 + 1 * 4 + 2 * 5 + 2 * 6 + 3 * 7 + 3 * 8));
}

TEST_CASE("case K-D4: a call with batches of 8 and 5 rows is refused, naming both") {
  std::string said;
  const auto g = driven([&](tk::caller& calls, const endpoints& of) {
    try {
      calls(of.both, numbers(8), 1.0, numbers(5)).get();
    } catch (const tk::call_failed& wrong) {
      said = wrong.cause().cause;
    }
  });
  const auto seen = tk::sim::simulate(g);
  CHECK(seen.ended);
  CHECK(seen.report.good());
  CHECK(said == "its batches have 8 and 5 rows; batches of one call must have the same rows");
}

TEST_CASE("a call that fails tells its caller at once, and those that await it, while the run goes on") {
  tk::time_point heard{};
  tk::fault first;
  tk::fault second;
  double sum = 0;
  const auto g = driven([&](tk::caller& calls, const endpoints& of) {
    const auto lost = calls(of.broken, numbers(8));
    const auto after = calls(of.sum, lost);
    try {
      (void)lost.get();
    } catch (const tk::call_failed& wrong) {
      first = wrong.cause();
    }
    heard = calls.now();
    try {
      (void)after.get();
    } catch (const tk::call_failed& wrong) {
      second = wrong.cause();
    }
    sum = calls(of.sum, numbers(4)).get().find("sum").value();
  });
  const auto seen = tk::sim::simulate(g);
  CHECK(seen.report.good());
  CHECK(heard == tk::time_point{});
  CHECK(first.endpoint == "broken");
  CHECK(first.rows == tk::interval{4, 6});
  CHECK(first.cause == "out of memory");
  CHECK(second == first);
  CHECK(sum == 6);
}

TEST_CASE("a fault that the driver lets pass ends the run with it, in simulation and on threads") {
  const auto g = driven([](tk::caller& calls, const endpoints& of) { (void)calls(of.broken, numbers(8)).get(); });
  for (const auto& report : {tk::sim::simulate(g).report, run_for_real(g)}) {
    REQUIRE(report.why);
    CHECK(report.why->cause == "out of memory");
    CHECK(report.why->endpoint == "broken");
    CHECK(report.abandoned.empty());
  }
}

TEST_CASE("a cancelled call comes to a fault at once, and its bodies end") {
  std::string said;
  const auto g = driven([&](tk::caller& calls, const endpoints& of) {
    const auto slow = calls(of.twice, numbers(8));
    const auto after = calls(of.sum, slow);
    slow.cancel();
    try {
      (void)after.get();
    } catch (const tk::call_failed& wrong) {
      said = wrong.cause().cause;
    }
    CHECK(values_of(calls(of.twice, numbers(4)).get()).size() == 8);
  });
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    said.clear();
    const auto seen = tk::sim::simulate(g, {.seed = seed});
    CHECK(seen.ended);
    CHECK(seen.report.good());
    CHECK(said == "the call was cancelled");
  }
}

TEST_CASE("an interrupt frees a driver that waits, and the run ends") {
  const auto g = driven([](tk::caller& calls, const endpoints& of) {
    calls.sleep_for(1h);
    (void)calls(of.sum, numbers(4)).get();
  });
  const auto seen = tk::sim::simulate(g, {.interrupt = 5s});
  CHECK(seen.ended);
  CHECK(seen.report.interrupted);
  CHECK_FALSE(seen.report.why);
  CHECK(seen.at < tk::time_point(1min));
}

TEST_CASE("a driver that ignores the end is named and left to itself") {
  const auto g = driven([](tk::caller& calls, const endpoints&) {
    for (;;)
      try {
        calls.sleep_for(1h);
      } catch (const tk::stopped&) {
      }
  });
  const auto seen = tk::sim::simulate(g, {.until = 30min, .interrupt = 5s});
  CHECK(seen.ended);
  REQUIRE(seen.report.why);
  CHECK(seen.report.why->cause == "the run was asked to stop, and the driver did not end within 10.000s");
  CHECK(seen.report.abandoned == std::vector<std::string>{"driven/driver"});
}

TEST_CASE("a graph whose endpoints nobody calls is refused") {
  tk::graph g{"silent"};
  auto samplers = g.spawn<sampler>("sampler", {four});
  (void)samplers.endpoint(&sampler::twice);
  CHECK_THROWS_WITH_AS((void)tk::sim::simulate(g), doctest::Contains("give the graph a driver"), tk::error);
}

TEST_CASE("an interrupt in the middle of a wait for a call is no fault, whoever is heard of first") {
  const auto g = driven([](tk::caller& calls, const endpoints& of) {
    for (;;)
      (void)calls(of.sum, calls(of.twice, numbers(8))).get();
  });
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto seen = tk::sim::simulate(g, {.seed = seed, .interrupt = 105ms});
    CHECK(seen.ended);
    CHECK(seen.report.interrupted);
    CHECK_MESSAGE(!seen.report.why, (seen.report.why ? seen.report.why->cause : ""));
  }
}

TEST_CASE("batches of one call have the identities of the one that has them, wherever it stands") {
  std::vector<double> sums;
  const auto g = driven([&](tk::caller& calls, const endpoints& of) {
    const auto pending = calls(of.twice, numbers(4));
    sums.push_back(calls(of.both, pending, 1.0, numbers(8)).get().find("sum").value());
    sums.push_back(calls(of.both, numbers(8), 1.0, pending).get().find("sum").value());
  });
  const auto seen = tk::sim::simulate(g);
  CHECK(seen.ended);
  CHECK_MESSAGE(!seen.report.why, (seen.report.why ? seen.report.why->cause : ""));
  CHECK(sums.size() == 2);
  CHECK(sums.front() == sums.back());
}

TEST_CASE("rows that were dropped before a call are tombstones of its outcome") {
  std::size_t lost = 0;
  const auto g = driven([&](tk::caller& calls, const endpoints& of) {
    const tk::batch sequences = calls(of.twice, numbers(4)).get();
    const tk::batch kept = sequences.drop(std::vector<std::size_t>{1, 2}, "bad");
    lost = calls(of.twice, kept).get().tombstone_count();
  });
  const auto seen = tk::sim::simulate(g);
  CHECK(seen.ended);
  CHECK(seen.report.good());
  CHECK(lost == 2);
}

TEST_CASE("a user's function that throws is the fault of its call, whatever it throws") {
  struct maker {
    tk::batch make(tk::context& ctx) { return numbers(2, static_cast<std::int64_t>(10 * ctx.rank())); }
    tk::batch pass(tk::context&, tk::batch rows) { return rows; }
  };
  std::vector<std::string> said;
  std::vector<std::int64_t> made;
  tk::graph g{"throws"};
  auto makers = g.spawn<maker>("maker", {four});
  const auto make = makers.endpoint(&maker::make, {.name = "make"});
  const auto gives = makers.endpoint(&maker::pass, {.name = "gives", .dispatch = tk::rows_by(
      [](const tk::batch&, const tk::route::team&) -> std::vector<std::vector<std::size_t>> { throw 7; })});
  tk::graph h{"throws"};
  auto others = h.spawn<maker>("maker", {four});
  const auto takes = others.endpoint(&maker::pass, {.name = "takes", .collect = tk::results_by(
      [](const tk::route::team&, std::span<const tk::route::returned>) -> tk::result<tk::collected> {
        throw std::out_of_range("no such thing");
      })});
  const auto note = [&](const auto& call) {
    try {
      (void)call.get();
    } catch (const tk::call_failed& wrong) {
      said.push_back(wrong.cause().cause);
    }
  };
  g.drive([=, &made](tk::caller& calls) {
    made = values_of(calls(make).get());
    note(calls(gives, numbers(4)));
  });
  h.drive([=](tk::caller& calls) { note(calls(takes, numbers(4))); });
  CHECK(tk::sim::simulate(g).report.good());
  CHECK(tk::sim::simulate(h).report.good());
  CHECK(made == std::vector<std::int64_t>{0, 1, 10, 11, 20, 21, 30, 31});  // an endpoint that takes no rows makes new ones
  CHECK(said == std::vector<std::string>{"a function of its dispatch threw something that is no std::exception",
                                         "no such thing"});
}
