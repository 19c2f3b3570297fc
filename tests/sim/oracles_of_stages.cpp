// SPDX-License-Identifier: Apache-2.0
// What oracles say of weights, credits and answers.
#include <doctest/doctest.h>

#include "history.hpp"

using namespace sim_test;
using namespace std::chrono_literals;
using flow_test::model_at;
using flow_test::prompts_at;
using flow_test::sampler_at;
using twinkle::address;
namespace msg = twinkle::msg;

namespace {

using lines = std::vector<std::string>;

void load(history& run, std::uint64_t version) {
  run.call(sampler_at, 1, std::vector<twinkle::payload>(1, twinkle::weights{{}, version}),
           [](const auto&) { return twinkle::payload{}; }, static_cast<std::int64_t>(version));
}
void publish(history& run, std::uint64_t version) {
  run.post(address::router(model_at), address::router(sampler_at), msg::published{0, twinkle::weights{{}, version}});
}
void construct(history& run) {
  const auto call = run.calls++;
  run.task(sampler_at, 0, {call, msg::task::kind::construct});
  run.reply(sampler_at, 0, call);
}

}  // namespace

TEST_CASE("a worker that loads a lower version than it has is found; a new object begins again") {
  history run = right_run();
  load(run, 3);
  load(run, 2);
  CHECK(watch(run).found == lines{"versions: sampler[dp=0] loads version 2, and has version 3"});
  history again = right_run();
  load(again, 3);
  construct(again);
  load(again, 2);
  CHECK(watch(again).found == lines{});
}

TEST_CASE("case K-F9: a worker that is given rows before it has loaded the weights of its stage is found") {
  history bare = right_run();
  construct(bare);
  bare.task(sampler_at, 0, {bare.calls, msg::task::kind::run, 0, 0, flow_test::numbered(0)});
  bare.reply(sampler_at, 0, bare.calls);
  CHECK(watch(bare).found == lines{"versions: sampler[dp=0] is given rows before it has loaded any weights"});

  history behind = right_run();
  behind.get<msg::task>(first_sample).version = 1;
  CHECK(watch(behind).found ==
        lines{"versions: sampler[dp=0] is given rows with version 0, and its stage has version 1"});
}

TEST_CASE("rows that say of another version than the one they are sampled with are found") {
  history run = right_run();
  auto& rows = std::get<twinkle::batch>(run.get<msg::task>(first_sample).input);
  rows = sampled_with(1, rows);
  const lines found = watch(run).found;
  REQUIRE(found.size() == 2);
  CHECK(found[0] == "versions: row 0:0 says that sampler[dp=0] samples it with version 1, which has version 0");
}

TEST_CASE("versions that are left out, or published again, are found") {
  history run = right_run();
  publish(run, 1);
  publish(run, 3);
  publish(run, 3);
  CHECK(watch(run).found ==
        lines{"versions: version 3 is published to sampler after version 1, and every 1 version is due",
              "versions: version 3 is published to sampler after version 3, and every 1 version is due"});
}

TEST_CASE("each so many versions are published, and then the last one") {
  flow_test::shape shape;
  shape.load.every = 2;
  shape.train.max_staleness = std::nullopt;
  history run = right_run();
  publish(run, 2);
  publish(run, 3);
  CHECK(watch(run, {}, shape).found == lines{});
  publish(run, 4);
  CHECK(watch(run, {}, shape).found ==
        lines{"versions: version 4 is published to sampler after version 3, and every 2 versions one is due"});
}

TEST_CASE("credits that come back for rows that never went out are found, and those that never come back") {
  history twice = right_run();
  twice.repeat<msg::credit>(0);
  CHECK(watch(twice).found == lines{"credits: prompts -> sampler gets credits back for 8 rows, and holds 0"});

  history leak = right_run();
  leak.get<msg::credit>(1).rows = 30;
  CHECK(watch(leak, {.tells_undelivered = true}).found ==
        lines{"credits: sampler -> model has not got back the credits for 2 rows, which were all taken"});
  // Where it is not known what was on its way, they may have been.
  CHECK(watch(leak).found == lines{});
}

TEST_CASE("an edge that holds more than its credits and what two calls put out is found") {
  history run = right_run();
  for (std::size_t more = 8; more <= 40; more += 8) {
    run.call(prompts_at, 0, {{}}, [](const auto&) { return twinkle::payload{flow_test::plain(8)}; });
    run.rows(prompts_at, sampler_at, 0, flow_test::numbered(8, static_cast<std::int64_t>(more)));
  }
  twinkle::run_report report = right_report;
  report.emitted = 48;
  report.returned = 40;
  CHECK(watch(run, {.report = report}).found == lines{"credits: prompts -> sampler holds 40 rows, and has room for 32"});
}

TEST_CASE("an answer that nobody asked for is found, unless its worker was given up before") {
  history twice = right_run();
  twice.repeat<msg::reply>(0);
  CHECK(watch(twice).found == lines{"drains: sampler[dp=0] answers what it was not asked, or has answered before"});
  history late = right_run();
  late.post(address::router(sampler_at), address::router(sampler_at), msg::lost{0, "its node died"});
  late.repeat<msg::reply>(0);
  CHECK(watch(late).found == lines{});
}

TEST_CASE("a task that is never answered is found when the run ends, unless its worker is gone") {
  history run = right_run();
  run.remove<msg::reply>(9);
  CHECK(watch(run).found == lines{"drains: the run ended; no answer from model[dp=0] in train"});
  run.post(address::router(model_at), address::router(model_at), msg::lost{0, "its node died"});
  CHECK(watch(run).found == lines{});
}

TEST_CASE("a run that does not end is found once nothing has moved for as long as anybody may take") {
  history run = right_run();
  run.remove<msg::reply>(9);
  CHECK(watch(run, {.ended = false, .at = 5min}).found == lines{});
  CHECK(watch(run, {.ended = false, .at = 11min}).found ==
        lines{"drains: the run did not end, and nothing has moved for 660.000s; no answer from model[dp=0] in train"});
  // What goes wrong for a while excuses it for so long.
  const twinkle::sim::mishap stall{.at = 2min, .what = twinkle::sim::mishap::kind::stalls, .stage = "model", .lasts = 5min};
  CHECK(watch(run, {.ended = false, .at = 11min, .mishaps = {stall}}).found == lines{});
}

TEST_CASE("a run that does not end says where its rows are") {
  history run = right_run();
  run.events.resize(run.where<msg::task>(first_train));
  const seen end = watch(run, {.ended = false, .at = 5min});
  REQUIRE(end.lost.size() == 32);
  CHECK(end.lost.front() == "0:0/0 in model");
}

TEST_CASE("a violation reads as one says it") {
  CHECK(to_string(twinkle::sim::violation{"drains", 2s, "the run did not end"}) == "at 2.000s drains: the run did not end");
}
