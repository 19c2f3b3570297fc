// SPDX-License-Identifier: Apache-2.0
// Columns that go around a stage: on one node and on several, in order and as they are completed.
#include "numbers.hpp"
#include "twinkle/flow/emitter.hpp"
#include "twinkle/testing/simulation.hpp"

namespace tk = twinkle;
using namespace std::chrono_literals;
using numbers::number;
using numbers::source;
using tk::sim::simulation;

namespace {

constexpr tk::ragged<double> wide{"wide"};
constexpr tk::column<double> level{"level"};
constexpr tk::column<double> reward{"reward"};
constexpr std::size_t width = 1000;

struct maker {
  tk::batch make(tk::context&, tk::batch rows) {
    std::vector<std::vector<double>> values;
    for (const std::int64_t each : rows[number])
      values.emplace_back(width, static_cast<double>(each));
    const std::vector<double> levels(rows[number].begin(), rows[number].end());
    return rows.with(wide, values).with(level, levels);
  }
};

double reward_of(std::int64_t of) { return static_cast<double>(of) / 2; }

// It wants to know of a row what its number and its level are, and nothing else.
struct judge {
  tk::batch grade(tk::context&, tk::batch rows) {
    std::vector<double> rewards;
    for (const std::int64_t each : rows[number])
      rewards.push_back(reward_of(each));
    return narrow(rows).with(reward, std::move(rewards));
  }
  void stream(tk::context&, const tk::batch& rows, tk::emitter& out) {
    for (std::size_t row = rows.rows(); row > 0; --row)
      out(row - 1, narrow(rows)[{row - 1, row}].with(reward, {reward_of(rows[number][row - 1])}));
  }
  // Two of each, of which the second is dropped.
  tk::batch doubled(tk::context&, tk::batch rows) {
    std::vector<std::size_t> parents;
    std::vector<std::size_t> second;
    for (std::size_t row = 0; row < rows.rows(); ++row) {
      second.push_back(parents.size() + 1);
      parents.insert(parents.end(), 2, row);
    }
    const tk::batch kept = narrow(rows).expand(parents).drop(second, "the second");
    std::vector<double> rewards;
    for (const std::int64_t each : kept[number])
      rewards.push_back(reward_of(each));
    return kept.with(reward, std::move(rewards));
  }

 private:
  static const tk::batch& narrow(const tk::batch& rows) {
    if (rows.names() != std::vector<std::string>{"number", "level"})
      throw tk::error("it was given more than it reads");
    return rows;
  }
};

struct trainer {
  tk::metrics train(tk::context&, tk::batch rows) {
    for (std::size_t row = 0; row < rows.rows(); ++row) {
      const std::int64_t of = rows[number][row];
      const auto values = rows[wide][row];
      if (values.size() != width || values[width - 1] != static_cast<double>(of) || rows[reward][row] != reward_of(of))
        throw tk::error("row " + std::to_string(of) + " has the columns of another");
    }
    return tk::metrics{}.sum("rows", static_cast<double>(rows.rows()));
  }
};

// The source on one node, makers on the next, judges on another and the trainer on the last; nothing rides in messages.
struct around : simulation {
  around() {
    cluster({{.name = "a", .devices = 0, .cpus = 1}, {.name = "makers", .devices = 2}, {.name = "judges", .devices = 2},
             {.name = "trainer", .devices = 1}});
    latency(1ms, 5ms).inline_rows(0).seeds(20);
    expect("the wide column passes by the judges", [](const tk::sim::seen& of) {
      // Levels to the judges; wide, level and reward to the trainer. Numbers are routed.
      const auto& bytes = of.run.fetched;
      return bytes[2] == 64 * sizeof(double) && bytes[3] == 64 * (width + 2) * sizeof(double);
    });
  }

  template <class Member>
  void whole(Member how, bool as_completed = false) {
    run(
        [=](tk::graph& g) {
          const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
          auto makers = g.spawn<maker>("maker", {{.name = "makers", .ranks = 2}});
          auto judges = g.spawn<judge>("judge", {{.name = "judges", .ranks = 2}});
          auto trains = g.spawn<trainer>("trainer", {{.name = "trainer", .ranks = 1}});
          auto made = g.spawn<source>("source", {host}, std::size_t{8})
                          .emits(&source::next)
                          .to(makers, &maker::make, {.name = "make"});
          auto graded = made.to(judges, how, {.name = "grade", .reads = {number, level}});
          (as_completed ? graded.as_completed() : graded)
              .rebatch(16)
              .to(trains, &trainer::train, {.name = "train"});
        },
        1h);
  }
};

}  // namespace

TEST_CASE_FIXTURE(around, "columns that a stage does not read go around it, and straight to who reads them") {
  whole(&judge::grade);
}

TEST_CASE_FIXTURE(around, "rows that are emitted one by one, as they are completed, have what went around") {
  whole(&judge::stream, true);
}

TEST_CASE_FIXTURE(around, "children have what went around of their parents, and so have those whose siblings are dropped") {
  whole(&judge::doubled);
}

TEST_CASE_FIXTURE(simulation, "a column that a stage says that it reads, and is not there, ends the run by name") {
  allow_fault();
  expect("the fault names stage, endpoint and columns", [](const tk::sim::seen& of) {
    return of.fault().ends_with("judge in grade: no column 'reward' to select; its columns are number");
  });
  run(
      [](tk::graph& g) {
        const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
        auto judges = g.spawn<judge>("judge", {{.name = "judges", .ranks = 2}});
        g.spawn<source>("source", {host}, std::size_t{1})
            .emits(&source::next)
            .to(judges, &judge::grade, {.name = "grade", .reads = {number, reward}})
            .stop_after(1);
      },
      1h);
}
