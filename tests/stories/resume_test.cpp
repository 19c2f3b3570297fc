// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <bit>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/simulated_files.hpp"
#include "toy.hpp"
#include "twinkle/base/digest.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/base/random.hpp"
#include "twinkle/runtime/checkpoint_folder.hpp"
#include "twinkle/sim/simulate.hpp"

namespace tk = twinkle;
using namespace std::chrono_literals;

namespace {

// All that is promised of a step, the numbers by their bits.
std::string record_of(const tk::step_record& step) {
  std::string text = "step " + std::to_string(step.step) + " rows " + std::to_string(step.rows) + " digest " +
                     tk::hexadecimal(step.digest) + " staleness " + std::to_string(step.staleness_max) + " version " +
                     std::to_string(step.version);
  for (const tk::metric& each : step.values.items())
    text += " " + each.name + " " + tk::hexadecimal(std::bit_cast<std::uint64_t>(each.value));
  return text;
}

std::vector<std::string> records_of(const tk::sim::outcome& seen) {
  std::vector<std::string> records;
  for (const tk::step_record& step : seen.steps)
    records.push_back(record_of(step));
  return records;
}

double newest_of(const tk::sim::outcome& seen) {
  return seen.report.newest->find("weight")->values.as<double>()[0];
}

struct lives {
  std::vector<std::string> records;
  std::size_t resumed = 0;  // times that it went on from a step
  tk::sim::outcome last;
};

// Runs it, kills it behind so many events, resumes it from the files that it left, and so on; at last to its end.
lives run_and_kill(const std::function<tk::graph()>& build, std::uint64_t seed, const std::vector<std::size_t>& deaths,
                   std::size_t save_every = 2) {
  tk::sim::simulated_files files;
  lives seen;
  for (std::size_t life = 0; life <= deaths.size(); ++life) {
    const tk::graph pipeline = build();
    tk::checkpoint_folder kept{"out/checkpoint", pipeline, 1, &files};
    tk::sim::options how{.seed = seed + life * 1000, .save_every = save_every};
    how.on_saved = [&](const tk::checkpoint& made) { kept.write(made); };
    if (files.read("out/checkpoint/manifest.json")) {
      how.resumed = kept.read();
      ++seen.resumed;
    }
    if (life < deaths.size())
      how.dies_after = deaths[life];
    const std::size_t behind = how.resumed ? how.resumed->step : 0;
    seen.last = tk::sim::simulate(pipeline, how);
    seen.records.resize(behind);
    for (const std::string& each : records_of(seen.last))
      seen.records.push_back(each);
  }
  return seen;
}

std::vector<std::size_t> deaths_of(std::uint64_t seed, std::size_t events) {
  tk::generator random{seed};
  return {random.below(events), random.below(events)};
}

void check_resumed_runs(toy::shape shape, std::uint64_t seeds) {
  shape.keeps = true;
  const auto build = [&] { return toy::pipeline(shape); };
  const tk::sim::outcome whole = tk::sim::simulate(build());
  REQUIRE(whole.ended);
  REQUIRE(toy::why(whole.report) == "");
  std::size_t resumed = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    CAPTURE(seed);
    const lives seen = run_and_kill(build, seed, deaths_of(seed, whole.events));
    REQUIRE(seen.last.ended);
    REQUIRE(toy::why(seen.last.report) == "");
    CHECK(seen.records == records_of(whole));
    CHECK(seen.last.report.steps == shape.steps);
    CHECK(newest_of(seen.last) == newest_of(whole));
    resumed += seen.resumed;
  }
  CHECK(resumed > seeds / 2);
}

}  // namespace

TEST_CASE("a run that is killed anywhere, and resumed, makes the steps of one that was not, whatever its bound") {
  for (std::size_t bound = 0; bound <= 2; ++bound) {
    CAPTURE(bound);
    check_resumed_runs({.steps = 10, .bound = bound}, 100);
  }
}

TEST_CASE("case K-F8: resumed with a sampler much faster than the trainer, the staleness bound holds from the first step") {
  for (std::size_t bound = 0; bound <= 2; ++bound) {
    CAPTURE(bound);
    toy::shape shape{.steps = 10, .bound = bound};
    shape.harm = [](tk::context& ctx, const std::string& endpoint) {
      if (endpoint == "train")
        ctx.sleep_for(50ms);
    };
    check_resumed_runs(shape, 20);
  }
}

TEST_CASE("a source that is quicker than everything is as far as its credits let it, and comes back to what was trained") {
  for (std::size_t bound = 0; bound <= 2; ++bound) {
    CAPTURE(bound);
    toy::shape shape{.steps = 10, .bound = bound};
    shape.harm = [](tk::context& ctx, const std::string& endpoint) {
      if (endpoint != "next" && endpoint != "source()")
        ctx.sleep_for(endpoint == "sample" ? 3ms : 2ms);
    };
    check_resumed_runs(shape, 20);
  }
}

TEST_CASE("batches of a source that do not divide a step are resumed where both end") {
  // 3 rows a source batch, 8 a step: each third step ends with a batch.
  for (std::size_t bound = 0; bound <= 2; ++bound) {
    CAPTURE(bound);
    toy::shape shape{.rows = 3, .steps = 13, .bound = bound, .samplers = 1, .keeps = true};
    const auto build = [&] { return toy::pipeline(shape); };
    const tk::sim::outcome whole = tk::sim::simulate(build());
    REQUIRE(toy::why(whole.report) == "");
    std::vector<std::size_t> saved;
    tk::sim::options how{.save_every = 2};
    how.on_saved = [&](const tk::checkpoint& made) { saved.push_back(made.step); };
    static_cast<void>(tk::sim::simulate(build(), how));
    CHECK(saved == std::vector<std::size_t>{3, 6, 9, 12});
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
      CHECK(run_and_kill(build, seed, deaths_of(seed, whole.events)).records == records_of(whole));
  }
}

TEST_CASE("a run that was resumed at its last step has nothing left to do, and still has its weights") {
  const toy::shape shape{.steps = 6, .keeps = true};
  std::optional<tk::checkpoint> last;
  tk::sim::options how{.save_every = 4};
  how.on_saved = [&](const tk::checkpoint& made) { last = made; };
  const tk::sim::outcome whole = tk::sim::simulate(toy::pipeline(shape), how);
  REQUIRE(last);
  CHECK(last->step == 6);  // saved at the end, whatever save_every says
  const tk::sim::outcome again = tk::sim::simulate(toy::pipeline(shape), {.resumed = last});
  REQUIRE(again.ended);
  CHECK(toy::why(again.report) == "");
  CHECK(again.steps.empty());
  CHECK(again.report.steps == 6);
  REQUIRE(again.report.newest);
  CHECK(again.report.newest->version() == 6);
}

TEST_CASE("a resumed run shows its judge the version that it had last, and then those to come") {
  std::optional<tk::checkpoint> third;
  tk::sim::options how{.save_every = 1};
  how.on_saved = [&](const tk::checkpoint& made) {
    if (made.step == 5)
      third = made;
  };
  static_cast<void>(tk::sim::simulate(toy::pipeline({.steps = 9, .keeps = true}), how));
  const auto seen = tk::sim::simulate(toy::pipeline({.steps = 9, .keeps = true}), {.resumed = third});
  std::vector<std::int64_t> versions;
  for (const auto& each : seen.grades)
    versions.push_back(each.version);
  CHECK(versions == std::vector<std::int64_t>{4, 8, 9});
}

TEST_CASE("what the listener throws when a step is saved ends the run with a fault") {
  tk::sim::options how{.save_every = 2};
  how.on_saved = [](const tk::checkpoint&) { throw std::runtime_error("the disk is full"); };
  const auto seen = tk::sim::simulate(toy::pipeline({.keeps = true}), how);
  REQUIRE(seen.ended);
  CHECK(toy::why(seen.report) == "toy: step 2 could not be saved: the disk is full");
}

TEST_CASE("a graph that keeps nothing cannot be resumed, nor one that needs versions which are not there") {
  std::optional<tk::checkpoint> last;
  tk::sim::options how{.save_every = 4};
  how.on_saved = [&](const tk::checkpoint& made) { last = made; };
  static_cast<void>(tk::sim::simulate(toy::pipeline({.bound = 0, .keeps = true}), how));
  CHECK_THROWS_WITH_AS(tk::sim::simulate(toy::pipeline(), {.resumed = last}),
                       "graph 'toy' cannot be resumed: none of its stages keeps anything; call .keeps of the stage that "
                       "trains",
                       tk::error);
  CHECK_THROWS_WITH_AS(tk::sim::simulate(toy::pipeline({.bound = 1, .keeps = true}), {.resumed = last}),
                       "the checkpoint of step 6 lacks version 5 of what toy/model publishes, which this graph needs; "
                       "resume with the graph that saved it, or begin anew",
                       tk::error);
}
