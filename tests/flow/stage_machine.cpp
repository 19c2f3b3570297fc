// SPDX-License-Identifier: Apache-2.0
// What one stage decides, message by message; whole runs are in stories/.
#include "twinkle/flow/stage_machine.hpp"

#include <doctest/doctest.h>

#include "driven.hpp"

using namespace flow_test;
using namespace std::chrono_literals;
using twinkle::fault;
using twinkle::weights;
namespace msg = twinkle::msg;
using texts = std::vector<std::string>;

namespace {

// 4 rows of the sampler make a step of 16; staleness at most 1.
driven stage_of(std::size_t at, const shape& of = {}) { return driven{plan_of(pipeline(of), at)}; }

weights version(std::uint64_t number) { return weights{{}, number}; }

// `prompts` rows of the sampler, as the model gets them.
msg::rows rollouts(std::size_t prompts, std::int64_t first = 0) {
  return {1, children(numbered(prompts, first), 4)};
}

std::vector<std::uint64_t> versions_sent(const driven& stage) {
  std::vector<std::uint64_t> found;
  for (const auto& each : stage.all<msg::published>())
    found.push_back(each.value.version());
  return found;
}

}  // namespace

TEST_CASE("all workers execute in one order: construct, states right behind what makes them, destroy") {
  driven model = stage_of(model_at);
  model.tell(rollouts(8));  // before it is built
  model.start();
  CHECK(model.order(0) == texts{"constructor", "state 0", "train 8", "state 1", "train 8", "state 2"});
  CHECK(model.order(1) == model.order(0));
  model.answer_all();
  CHECK(model.all<msg::stepped>().size() == 2);
  CHECK(versions_sent(model) == std::vector<std::uint64_t>{0, 1, 2});
  model.tell(msg::stop{});
  CHECK(model.order(0).back() == "destructor");
  model.answer_all();
  CHECK(model.order(1) == model.order(0));
  REQUIRE(model.all<msg::finished>().size() == 1);
  CHECK(model.all<msg::finished>()[0].version == 2);
  CHECK(model.all<msg::finished>()[0].rows.trained == 32);
}

TEST_CASE("no more than two calls of data are with the workers at once") {
  driven model = stage_of(model_at);
  model.start();
  model.answer_all();
  for (std::int64_t at = 0; at < 3; ++at)
    model.tell(rollouts(4, 4 * at));
  CHECK(model.order(0).size() == 2 + 2 * 2);
  model.answer_all();
  CHECK(model.order(0).size() == 2 + 3 * 2);
}

TEST_CASE("a step says what it trained, how old it was, and what it made") {
  driven model = stage_of(model_at);
  model.start();
  auto rows = rollouts(8);
  std::vector<twinkle::row_tag> tags(rows.value.tags().begin(), rows.value.tags().end());
  for (std::size_t at = 0; at < tags.size(); ++at)
    tags[at].version = 0;
  rows.value = rows.value.with_tags(tags).drop(std::vector<std::size_t>{5}, "bad");
  model.tell(rows);
  model.answer_all();
  const auto steps = model.all<msg::stepped>();
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].record.step == 1);
  CHECK(steps[0].record.rows == 15);
  CHECK(steps[0].record.tombstones == 1);
  CHECK(steps[0].record.version == 1);
  CHECK(steps[0].record.staleness_max == 0);
  CHECK(steps[0].record.values.find("rows") == 15.0);
  CHECK(steps[1].record.staleness_max == 1);
  CHECK(steps[1].record.version == 2);
  CHECK(steps[0].record.digest != steps[1].record.digest);
}

TEST_CASE("a row that is older than the bound is a fault before it is trained") {
  driven model = stage_of(model_at, {.train = {.name = "train", .max_staleness = 0}});
  model.start();
  auto rows = rollouts(8);
  std::vector<twinkle::row_tag> tags(rows.value.tags().begin(), rows.value.tags().end());
  for (auto& tag : tags)
    tag.version = 0;
  model.tell(msg::rows{1, rows.value.with_tags(tags)});
  REQUIRE(model.all<msg::failed>().size() == 1);
  CHECK(model.all<msg::failed>()[0].why.cause == "step 2 would train a row that is 1 versions old; the bound is 0");
  CHECK(model.order(0) == texts{"constructor", "state 0", "train 8", "state 1"});
}

TEST_CASE("a bounded load comes at its place by count, whenever it arrives") {
  for (const bool early : {true, false}) {
    driven sampler = stage_of(sampler_at);
    sampler.start();
    sampler.tell(msg::rows{0, numbered(8)});
    CHECK(sampler.order(0) == texts{"constructor"});  // not before version 0
    if (early)
      for (std::uint64_t at = 0; at <= 2; ++at)
        sampler.tell(msg::published{0, version(at)});
    else
      sampler.tell(msg::published{0, version(0)});
    sampler.tell(msg::rows{0, numbered(8, 8)});
    sampler.answer_all();
    if (!early) {
      CHECK(sampler.order(0) == texts{"constructor", "load 0", "sample 2"});
      sampler.tell(msg::published{0, version(1)});
      sampler.answer_all();
      CHECK(sampler.order(0).back() == "sample 1");
      sampler.tell(msg::published{0, version(2)});
    }
    sampler.answer_all();
    // Version 1 behind row (1 + 1) x 4, version 2 behind row (2 + 1) x 4; four workers share each call.
    CHECK(sampler.order(3) == texts{"constructor", "load 0", "sample 2", "load 1", "sample 1", "load 2", "sample 1"});
    const auto rows = sampler.all<msg::rows>();
    REQUIRE(rows.size() == 3);
    for (std::size_t at = 0; at < 3; ++at)
      CHECK(rows[at].value.tags()[0].version == static_cast<std::int64_t>(at));
    CHECK(numbers_of(rows[1].value).front() == 8);
    CHECK(numbers_of(rows[2].value).front() == 12);
  }
}

TEST_CASE("credits go back when the stage takes the rows, part by part") {
  driven sampler = stage_of(sampler_at);
  sampler.start();
  sampler.tell(msg::rows{0, numbered(12)});
  CHECK(sampler.all<msg::credit>().empty());
  sampler.tell(msg::published{0, version(0)});
  REQUIRE(sampler.all<msg::credit>().size() == 1);
  CHECK(sampler.all<msg::credit>()[0].rows == 8);
  CHECK(sampler.posted.back().to == twinkle::address::router(prompts_at));
  sampler.tell(msg::published{0, version(1)});
  CHECK(sampler.all<msg::credit>().back().rows == 4);
}

TEST_CASE("an unbounded load takes effect when it comes, and a publication reaches every n-th and the last version") {
  shape of{.train = {.name = "train"}, .load = {.name = "load", .every = 2}};
  driven model = stage_of(model_at, of);
  model.start();
  for (std::int64_t at = 0; at < 5; ++at) {
    model.tell(rollouts(4, 4 * at));
    model.answer_all();
  }
  CHECK(versions_sent(model) == std::vector<std::uint64_t>{0, 2, 4});
  model.tell(msg::stop{});
  model.answer_all();
  CHECK(versions_sent(model) == std::vector<std::uint64_t>{0, 2, 4, 5});
  CHECK(model.order(0) == texts{"constructor", "state 0", "train 8", "train 8", "state 2", "train 8", "train 8",
                                "state 4", "train 8", "state 5", "destructor"});
  REQUIRE(model.all<msg::newest>().size() == 1);
  CHECK(model.all<msg::newest>().back().value.version() == 5);

  driven sampler = stage_of(sampler_at, of);
  sampler.start();
  sampler.tell(msg::published{0, version(0)});
  sampler.tell(msg::rows{0, numbered(8)});
  sampler.tell(msg::published{0, version(2)});
  CHECK(sampler.order(2) == texts{"constructor", "load 0", "sample 2", "load 2"});
}

TEST_CASE("results flow on in the order of their calls, whichever is complete first") {
  driven sampler = stage_of(sampler_at, {.train = {.name = "train"}});
  sampler.start();
  sampler.tell(msg::published{0, version(0)});
  for (std::size_t worker = 0; worker < 4; ++worker)
    sampler.answer(worker);
  sampler.tell(msg::rows{0, numbered(4)});
  sampler.tell(msg::rows{0, numbered(4, 4)});
  for (std::size_t worker = 1; worker < 4; ++worker) {
    sampler.answer(worker);
    sampler.answer(worker);
  }
  CHECK(sampler.all<msg::rows>().empty());
  sampler.answer(0);
  REQUIRE(sampler.all<msg::rows>().size() == 1);
  sampler.answer(0);
  REQUIRE(sampler.all<msg::rows>().size() == 2);
  CHECK(numbers_of(sampler.all<msg::rows>()[0].value).front() == 0);
  CHECK(numbers_of(sampler.all<msg::rows>()[1].value).front() == 4);
}

TEST_CASE("a source numbers its rows, stops at a full edge, and says once that it has ended") {
  driven prompts = stage_of(prompts_at);
  prompts.start();
  prompts.answer_all();
  auto rows = prompts.all<msg::rows>();
  REQUIRE(rows.size() == 2);  // credits for two batches of its producer
  CHECK(names_of(rows[0].value).front() == "0:0");
  CHECK(names_of(rows[1].value).back() == "0:15");
  CHECK(prompts.open(0).empty());
  prompts.tell(msg::credit{0, 1});
  REQUIRE(prompts.open(0).size() == 1);
  prompts.answer(0, twinkle::payload{twinkle::end_of_source{}});
  CHECK(prompts.all<msg::end>().size() == 1);
  CHECK(prompts.all<msg::ended>().size() == 1);
  prompts.tell(msg::credit{0, 8});
  CHECK(prompts.open(0).empty());
  CHECK(prompts.all<msg::end>().size() == 1);
}

TEST_CASE("the sequences of a source that goes on from an earlier run start behind the rows of that run") {
  driven prompts = stage_of(prompts_at, {.emits = {8, 8, true, 14}});
  prompts.start();
  prompts.answer_all();
  CHECK(names_of(prompts.all<msg::rows>()[0].value).front() == "0:14");
  CHECK(names_of(prompts.all<msg::rows>()[1].value).back() == "0:29");
}

TEST_CASE("the end passes on only behind the last rows, which may fill a batch in part") {
  driven model = stage_of(model_at);
  model.start();
  model.answer_all();
  model.tell(rollouts(5));
  model.tell(msg::end{1});
  CHECK(model.order(0) == texts{"constructor", "state 0", "train 8", "state 1", "train 2", "state 2"});
  CHECK(model.all<msg::ended>().empty());
  model.answer_all();
  CHECK(model.all<msg::ended>().size() == 1);
}

TEST_CASE("rows that change in number where a bound counts on it are a fault") {
  driven sampler = stage_of(sampler_at);
  sampler.start();
  sampler.tell(msg::published{0, version(0)});
  sampler.tell(msg::rows{0, numbered(4)});
  for (std::size_t worker = 0; worker < 4; ++worker) {
    sampler.answer(worker);
    sampler.answer(worker, twinkle::payload{children(numbered(1, static_cast<std::int64_t>(worker)), 3)});
  }
  REQUIRE(sampler.all<msg::failed>().size() == 1);
  CHECK(sampler.all<msg::failed>()[0].why ==
        fault{"test/sampler", "sample", twinkle::interval{0, 4},
              "it returned 12 rows for 4, but its edge says 4 for each; set .expands"});
}

TEST_CASE("a batch of only tombstones passes a stage, and stops the run where it would be trained") {
  const auto lost = children(numbered(4), 4).drop(std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
                                                                           14, 15}, "no good");
  driven sampler = stage_of(sampler_at);
  sampler.start();
  sampler.tell(msg::published{0, version(0)});
  sampler.tell(msg::rows{0, numbered(4).drop(std::vector<std::size_t>{0, 1, 2, 3}, "no good")});
  sampler.answer_all();
  REQUIRE(sampler.all<msg::rows>().size() == 1);
  CHECK(lost_in(sampler.all<msg::rows>()[0].value) == lost_in(lost));  // each of them would have been four
  CHECK(sampler.order(0) == texts{"constructor", "load 0"});

  driven model = stage_of(model_at);
  model.start();
  model.tell(msg::rows{1, lost});
  REQUIRE(model.all<msg::failed>().size() == 1);
  CHECK(model.all<msg::failed>()[0].why ==
        fault{"test/model", "train", std::nullopt,
              "all 16 rows of its batch were lost; the first: 0:0/0, no good"});
}
