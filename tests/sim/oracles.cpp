// SPDX-License-Identifier: Apache-2.0
#include "twinkle/sim/oracles.hpp"

#include <doctest/doctest.h>

#include "history.hpp"

using namespace sim_test;
using namespace std::chrono_literals;
using flow_test::model_at;
using flow_test::prompts_at;
using flow_test::sampler_at;
using twinkle::address;
using twinkle::batch;
using twinkle::interval;
namespace msg = twinkle::msg;

namespace {

using lines = std::vector<std::string>;

batch& rows_of(msg::task& of) { return std::get<batch>(of.input); }

batch without(const batch& rows, std::size_t row) {
  std::vector<std::size_t> kept;
  for (std::size_t at = 0; at < rows.rows(); ++at)
    if (at != row)
      kept.push_back(at);
  return rows.take(kept);
}

}  // namespace

TEST_CASE("oracles find nothing wrong with a run that is right") {
  CHECK(watch(right_run()).found == lines{});
  CHECK(watch(right_run(), {.tells_undelivered = true}).found == lines{});
}

TEST_CASE("a row that is trained in two calls is found, by name") {
  history run = right_run();
  run.call(model_at, 0, {run.get<msg::task>(first_train).input}, [](const auto&) { return twinkle::payload{}; });
  const lines found = watch(run).found;
  REQUIRE(found.size() > 1);
  CHECK(found[0] == "rows: row 0:0/0 is trained twice, the second time by model[dp=0]");
}

TEST_CASE("a row that two workers train in one call is found, unless one is the other's replica") {
  history run = right_run();
  rows_of(run.get<msg::task>(first_train + 1)) = rows_of(run.get<msg::task>(first_train));
  const lines found = watch(run).found;
  REQUIRE(!found.empty());
  CHECK(found[0] == "rows: row 0:0/0 is trained by two workers that are no replicas; one is model[dp=1]");

  history replicas = right_run();
  for (std::size_t at = first_train; at < first_train + 4; at += 2) {
    batch both = batch::concat(std::vector<batch>{rows_of(replicas.get<msg::task>(at)), rows_of(replicas.get<msg::task>(at + 1))});
    rows_of(replicas.get<msg::task>(at)) = both;
    rows_of(replicas.get<msg::task>(at + 1)) = both;
  }
  CHECK(watch(replicas, {}, {.mesh = twinkle::device_mesh::from_sizes({.tp_size = 2})}).found == lines{});
}

TEST_CASE("a row that vanishes is named, with where it was last seen") {
  history run = right_run();
  run.get<msg::rows>(1).value = without(run.get<msg::rows>(1).value, 13);
  rows_of(run.get<msg::task>(first_train + 1)) = without(rows_of(run.get<msg::task>(first_train + 1)), 5);
  twinkle::run_report report = right_report;
  report.trained = 31;
  const seen end = watch(run, {.report = report});
  CHECK(end.lost == lines{"0:3 in sampler[dp=1]"});
  REQUIRE(end.found.size() == 3);
  CHECK(end.found[0] ==
        "rows: 1 rows are neither trained nor dropped, lost or returned: row 0:3 (last seen in sampler[dp=1])");
  CHECK(end.found[1] == "groups: of 4 siblings below row 0:3, 3 are in a batch of model");
  CHECK(end.found[2].starts_with("credits: sampler -> model gets credits back for 32 rows"));

  // A run that failed need not have all of them.
  report.why = twinkle::fault{"test/model", "train", std::nullopt, "out of memory"};
  CHECK(watch(run, {.report = report}).lost == lines{});
}

TEST_CASE("rows that are returned at the stop are not missed, and the report must say of all of them") {
  history run = right_run();
  run.events.resize(run.events.size() - 4);  // the second step
  twinkle::run_report report = right_report;
  report.trained = report.returned = 16;
  CHECK(watch(run, {.report = report}).found == lines{});
  report.returned = 15;
  const seen end = watch(run, {.report = report});
  REQUIRE(end.found.size() == 1);
  CHECK(end.found[0] == "rows: 1 rows are neither trained nor dropped, lost or returned: row 0:4/0 (last seen in model)");
  report.returned = 20;
  CHECK(watch(run, {.report = report}).found ==
        lines{"rows: the report says that 36 rows were trained or returned; 32 at most were there"});
}

TEST_CASE("a row that is trained and a tombstone as well is found") {
  history run = right_run();
  batch& rollouts = run.get<msg::rows>(1).value;
  rollouts = rollouts.drop(std::vector<std::size_t>{2}, "too long");
  const seen end = watch(run);
  REQUIRE(!end.found.empty());
  CHECK(end.found[0] == "rows: row 0:0/2 is trained by model[dp=0], and is a tombstone");
}

TEST_CASE("a tombstone stands for its row, and a retry that samples it again is right") {
  history run = right_run();
  batch& rollouts = run.get<msg::rows>(1).value;
  rollouts = rollouts.drop(std::vector<std::size_t>{2}, "lost: out of memory");
  rows_of(run.get<msg::task>(first_train)) = without(rows_of(run.get<msg::task>(first_train)), 2);
  const event again = run.events[run.where<msg::task>(first_sample + 1)];
  run.events.insert(run.events.begin() + static_cast<std::ptrdiff_t>(run.where<msg::task>(first_sample + 2)), again);
  auto& task = std::get<msg::task>(run.events[run.where<msg::task>(first_sample + 2)].content);
  task.call = 99;
  run.reply(sampler_at, 1, 99, flow_test::children(rows_of(task), 4));
  flow_test::shape shape;
  shape.sample.retries = 1;
  CHECK(watch(run, {}, shape).found == lines{});
}

TEST_CASE("a row that comes twice, or from nowhere, is found") {
  history twice = right_run();
  twice.repeat<msg::rows>(0);
  CHECK(watch(twice).found[0] == "rows: row 0:0 came on prompts -> sampler twice, or from nowhere");
  history nowhere = right_run();
  rows_of(nowhere.get<msg::task>(first_train)) = flow_test::children(flow_test::numbered(2, 20), 4);
  CHECK(watch(nowhere).found[0] == "rows: row 0:20/0 is trained by model[dp=0], and came from nowhere");
}

TEST_CASE("totals of a report that are not what was seen are found") {
  twinkle::run_report report = right_report;
  report.emitted = 9;
  report.lost = 1;
  report.trained = 33;
  const lines found = watch(right_run(), {.report = report}).found;
  REQUIRE(found.size() == 4);
  CHECK(found[0] == "rows: the report says that 9 rows were emitted; 8 were");
  CHECK(found[1] == "rows: the report says that 1 rows were lost; 0 were");
  CHECK(found[2].starts_with("rows: the report says that 33 rows were trained; 32 were"));
}

TEST_CASE("rows that are out of order on an ordered edge are found") {
  history run = right_run();
  batch& prompts = run.get<msg::rows>(0).value;
  prompts = prompts.take(std::vector<std::size_t>{0, 1, 3, 2, 4, 5, 6, 7});
  CHECK(watch(run).found == lines{"order: row 0:2 came on prompts -> sampler behind row 0:3"});

  history given = right_run();
  batch& part = rows_of(given.get<msg::task>(first_train));
  part = part.take(std::vector<std::size_t>{0, 1, 2, 3, 5, 4, 6, 7});
  CHECK(watch(given).found == lines{"order: row 0:1/0 is given to model[dp=0] behind row 0:1/1"});
}

TEST_CASE("whoever makes children of a row may return them in any order") {
  history run = right_run();
  batch& rollouts = run.get<msg::rows>(1).value;
  std::vector<std::size_t> rows(32);
  for (std::size_t at = 0; at < 32; ++at)
    rows[at] = at == 4 ? 5 : at == 5 ? 4 : at;
  rollouts = rollouts.take(rows);
  batch& part = rows_of(run.get<msg::task>(first_train));
  part = part.take(std::vector<std::size_t>{0, 1, 2, 3, 5, 4, 6, 7});
  CHECK(watch(run).found == lines{});
}

TEST_CASE("groups that are cut apart between batches, or are mixed in one, are found") {
  history cut = right_run();
  // One row too few in the first step, which is the first of the second.
  batch& first = rows_of(cut.get<msg::task>(first_train + 1));
  batch& second = rows_of(cut.get<msg::task>(first_train + 2));
  second = batch::concat(std::vector<batch>{first[interval{7, 8}], second});
  first = first[interval{0, 7}];
  CHECK(watch(cut).found == lines{"groups: siblings of row 0:3 are given to model in two batches",
                                  "groups: of 4 siblings below row 0:3, 3 are in a batch of model",
                                  "groups: of 4 siblings below row 0:3, 1 are in a batch of model"});

  history mixed = right_run();
  batch& part = rows_of(mixed.get<msg::task>(first_train));
  part = part.take(std::vector<std::size_t>{0, 1, 2, 4, 3, 5, 6, 7});
  const lines found = watch(mixed).found;
  CHECK(std::find(found.begin(), found.end(),
                  "groups: siblings of row 0:0 do not stand together given to model[dp=0]") != found.end());
}

TEST_CASE("a row that is trained beyond its bound is found by counting steps") {
  history run = right_run();
  // A step of nothing before the second one makes a version more.
  const std::size_t second = run.where<msg::task>(first_train + 2);
  history empty;
  empty.calls = 50;
  empty.call(model_at, 0, {batch{}, batch{}}, [](const auto&) { return twinkle::payload{}; });
  run.events.insert(run.events.begin() + static_cast<std::ptrdiff_t>(second), empty.events.begin(), empty.events.end());
  const lines found = watch(run).found;
  REQUIRE(found.size() == 10);
  CHECK(found[0] == "staleness: row 0:4/0 is trained in step 3 by model[dp=0], sampled with version 0: 2 versions old; "
                    "the bound is 1");
}
