// SPDX-License-Identifier: Apache-2.0
// What a stage makes of rows that lie on other nodes, which may be lost.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <map>

#include "driven.hpp"
#include "for_all.hpp"

using namespace flow_test;
using namespace std::chrono_literals;
using twinkle::failing;
using twinkle::fault;
using twinkle::weights;
namespace msg = twinkle::msg;
using texts = std::vector<std::string>;

namespace {

const fault unreached{"test/model[dp=0]", "train", twinkle::interval{0, 8}, "what it needs cannot be fetched: it does not answer"};

// The model, 16 rows a step, which may be fewer where samplers drop what they cannot do.
driven model(failing failed = failing::ends_run) {
  shape of;
  of.sample.failed = failed;
  driven made{plan_of(pipeline(of), model_at)};
  made.start();
  made.answer_all();
  return made;
}

// A sampler with version 0 of the weights.
driven loaded(const twinkle::stage_plan& plan) {
  driven made{plan};
  made.start();
  made.tell(msg::published{0, weights{{}, 0}});
  made.answer_all();
  return made;
}

// What four prompts are sampled to.
void check_whole(const driven& sampler) {
  REQUIRE(sampler.all<msg::rows>().size() == 1);
  CHECK(sampler.all<msg::rows>()[0].value.rows() == 16);
  CHECK(sampler.all<msg::failed>().empty());
}

// Rows of `prompts` prompts, as a sampler on a node made them.
msg::rows rollouts(std::size_t prompts, std::int64_t first, std::size_t node, std::uint64_t life = 1) {
  return {1, kept_by(children(numbered(prompts, first), 4), node, life)};
}

msg::node_lost loss(std::size_t node, std::uint64_t life = 1) {
  return {{node, life, "node '" + std::to_string(node) + "' was lost: it died"}};
}

texts last(const texts& of, std::size_t count) { return {of.end() - static_cast<std::ptrdiff_t>(count), of.end()}; }

}  // namespace

TEST_CASE("what cannot be done again starts when all of its workers have their rows") {
  driven stage = model();
  stage.tell(rollouts(2, 0, 1));
  stage.tell(rollouts(2, 2, 2));
  CHECK(stage.order(0) == texts{"constructor", "state 0", "gather 8"});
  stage.answer(0);
  CHECK(stage.open(0).empty());
  stage.answer(1);
  CHECK(last(stage.order(0), 3) == texts{"gather 8", "train 8", "state 1"});
  CHECK(last(stage.order(1), 3) == last(stage.order(0), 3));
  CHECK(stage.open(0).front().gathered.has_value());
  stage.answer_all();
  REQUIRE(stage.all<msg::stepped>().size() == 1);
  CHECK(stage.all<msg::stepped>()[0].record.rows == 16);
}

TEST_CASE("rows that are here, that ride along, or whose call another worker could take over, are not gathered") {
  driven stage = model();
  stage.tell(msg::rows{1, children(numbered(4), 4)});
  CHECK(last(stage.order(0), 2) == texts{"train 8", "state 1"});

  shape of;
  of.sample.retries = 1;
  driven sampler = loaded(plan_of(pipeline(of), sampler_at));
  sampler.tell(msg::rows{0, kept_by(numbered(4), 1)});
  CHECK(sampler.order(0).back() == "sample 1");
}

TEST_CASE("the next rows are gathered while those before them are trained, and no others") {
  driven stage = model();
  for (std::int64_t prompt = 0; prompt < 12; prompt += 4)
    stage.tell(rollouts(4, prompt, 1));
  stage.answer(0);
  stage.answer(1);
  CHECK(last(stage.order(0), 3) == texts{"train 8", "state 1", "gather 8"});
  stage.answer_all();
  CHECK(stage.all<msg::stepped>().size() == 3);
  CHECK(last(stage.order(0), 6) == texts{"gather 8", "train 8", "state 2", "gather 8", "train 8", "state 3"});
}

TEST_CASE("rows of a node that is lost are lost by name, where rows may be") {
  driven stage = model(failing::drops_rows);
  stage.tell(rollouts(2, 0, 1));
  stage.tell(loss(1, 7));  // a process that was there before
  stage.tell(loss(1));
  stage.tell(rollouts(1, 2, 2));
  stage.tell(rollouts(1, 3, 1, 2));  // of the process that came after it
  CHECK(stage.order(0).back() == "gather 4");
  stage.answer_all();
  REQUIRE(stage.all<msg::stepped>().size() == 1);
  CHECK(stage.all<msg::stepped>()[0].record.rows == 8);
  CHECK(stage.all<msg::stepped>()[0].record.tombstones == 8);
  REQUIRE(stage.all<msg::setback>().size() == 1);
  CHECK(stage.all<msg::setback>()[0].what.dropped == 8);
  CHECK(to_string(stage.all<msg::setback>()[0].what.why) == "test/model in train: node '1' was lost: it died");
  CHECK(stage.all<msg::failed>().empty());
}

TEST_CASE("rows of a node that is lost end the run where none may be lost, with what to do about it") {
  driven stage = model();
  stage.tell(rollouts(2, 0, 1));
  stage.tell(loss(1));
  CHECK(stage.all<msg::failed>().empty());  // they may be on their way to be dropped
  stage.tell(rollouts(2, 2, 2));
  REQUIRE(stage.all<msg::failed>().size() == 1);
  CHECK(to_string(stage.all<msg::failed>()[0].why) ==
        "test/model in train: node '1' was lost: it died; 8 of 16 rows were there alone. With .failed = "
        "failing::drops_rows where they are made they are lost by name");
}

TEST_CASE("columns that no worker reads may be lost") {
  shape of;
  of.train.reads = {number};
  driven stage{plan_of(pipeline(of), model_at)};
  stage.start();
  stage.answer_all();
  stage.tell(rollouts(4, 0, 1));
  stage.tell(loss(1));
  stage.answer_all();
  CHECK(stage.all<msg::stepped>().size() == 1);
  CHECK(stage.all<msg::failed>().empty());
}

TEST_CASE("a loss while rows are gathered costs those rows, and the others are gathered anew") {
  driven stage = model(failing::drops_rows);
  stage.tell(rollouts(2, 0, 1));
  stage.tell(rollouts(2, 2, 2));
  SUBCASE("that is known before it is seen") {
    stage.tell(loss(1));
    stage.answer(0, unreached);
  }
  SUBCASE("that is seen before it is known") {
    stage.answer(0, unreached);
    CHECK(stage.order(0).back() == "gather 8");
    stage.tell(loss(1));
  }
  CHECK(stage.order(0).back() == "gather 4");
  stage.answer_all();
  REQUIRE(stage.all<msg::stepped>().size() == 1);
  CHECK(stage.all<msg::stepped>()[0].record.rows == 8);
  CHECK(stage.all<msg::stepped>()[0].record.tombstones == 8);
}

TEST_CASE("rows that cannot be gathered are tried again each second, for ten, and then end the run with the cause") {
  driven stage = model();
  stage.tell(rollouts(4, 0, 1));
  for (int second = 1; second <= 10; ++second) {
    stage.answer(0, unreached);
    CHECK(stage.all<msg::failed>().empty());
    REQUIRE(stage.next_deadline() == stage.now + 1s);
    stage.now += 999ms;
    stage.tell(msg::tick{});
    CHECK(stage.open(0).empty());
    stage.now += 1ms;
    stage.tell(msg::tick{});
  }
  REQUIRE(stage.all<msg::failed>().size() == 1);
  CHECK(to_string(stage.all<msg::failed>()[0].why) == to_string(unreached));

  driven other = model();
  other.tell(rollouts(4, 0, 1));
  other.answer(0, unreached);
  other.now += 1s;
  other.tell(msg::tick{});
  other.answer_all();
  CHECK(other.all<msg::stepped>().size() == 1);
}

TEST_CASE("weights that come while rows are gathered are loaded behind them") {
  driven sampler = loaded(plan_of(pipeline(), sampler_at));
  sampler.tell(msg::rows{0, kept_by(numbered(8), 1)});
  sampler.tell(msg::published{0, weights{{}, 1}});
  CHECK(last(sampler.order(0), 2) == texts{"load 0", "gather 2"});
  sampler.answer_all();
  CHECK(last(sampler.order(0), 3) == texts{"gather 2", "sample 2", "load 1"});
  REQUIRE(sampler.all<msg::rows>().size() == 1);
  CHECK(sampler.all<msg::rows>()[0].value.tags()[0].version == 0);
}

TEST_CASE("tasks that come between a gather and the call that it is for do not take its rows") {
  driven sampler = loaded(plan_of(pipeline(), sampler_at));
  for (std::int64_t first = 0; first < 8; first += 4)
    sampler.tell(msg::rows{0, kept_by(numbered(4, first), 1)});
  for (std::size_t worker = 0; worker < 4; ++worker)
    sampler.answer(worker);
  CHECK(last(sampler.order(0), 2) == texts{"sample 1", "gather 1"});
  const twinkle::batch given = rows_of(sampler.open(0).front().input);
  sampler.answer(0, twinkle::payload{given.unfinished(std::vector<std::size_t>{0})});
  CHECK(last(sampler.order(0), 1) == texts{"sample 1"});  // it goes on with it
  sampler.answer_all();
  REQUIRE(sampler.all<msg::rows>().size() == 2);
  CHECK(sampler.all<msg::rows>()[1].value.rows() == 16);
  CHECK(sampler.all<msg::failed>().empty());
}

TEST_CASE("what a worker gathered that is gone since is gathered by the one in its place") {
  twinkle::stage_plan plan = plan_of(pipeline(), sampler_at);
  plan.respawns = 1;
  driven sampler = loaded(plan);
  sampler.tell(msg::rows{0, kept_by(numbered(4), 1)});
  sampler.answer(0);
  sampler.tell(msg::lost{0, "it died"});
  SUBCASE("while the others still gather") {}
  SUBCASE("though rows of its node are gone as well") { sampler.tell(loss(2)); }
  CHECK(sampler.all<msg::failed>().empty());
  sampler.tell(msg::back{0});
  sampler.answer_all();
  sampler.now += 1s;
  sampler.tell(msg::tick{});
  CHECK(sampler.order(0).back() == "gather 1");
  sampler.answer_all();
  check_whole(sampler);
}

TEST_CASE("where rows may be lost, those that others could take over are gathered too, without those who are gone") {
  shape of;
  of.sample.failed = failing::drops_rows;
  of.train.max_staleness = std::nullopt;
  twinkle::stage_plan plan = plan_of(pipeline(of), sampler_at);
  plan.endpoints[plan.inputs[0].endpoint].failed = failing::ends_run;  // as of a stage behind it
  plan.endpoints[plan.inputs[0].endpoint].retries = 1;
  driven sampler = loaded(plan);
  sampler.tell(msg::lost{2, "it died"});
  sampler.tell(msg::rows{0, kept_by(numbered(4), 1)});
  CHECK(sampler.order(0).back() == "gather 1");
  sampler.answer_all();
  check_whole(sampler);
}

TEST_CASE("a dispatch function is asked once for what is gathered and then worked on") {
  shape of;
  of.sample.failed = failing::drops_rows;
  int asked = 0;
  of.train.dispatch = twinkle::rows_by([&asked](const twinkle::batch& rows, const twinkle::route::team&) {
    std::vector<std::vector<std::size_t>> turns(2);
    for (std::size_t row = 0; row < rows.rows(); ++row)
      turns[(row + static_cast<std::size_t>(asked)) % 2].push_back(row);
    ++asked;
    return turns;
  });
  driven stage{plan_of(pipeline(of), model_at)};
  stage.start();
  stage.answer_all();
  stage.tell(rollouts(2, 0, 1));
  stage.tell(rollouts(2, 2, 2));
  stage.tell(loss(1));
  stage.answer(0, unreached);
  CHECK(asked == 2);  // with fewer rows, anew
  stage.answer_all();
  CHECK(asked == 2);
  REQUIRE(stage.all<msg::stepped>().size() == 1);
  CHECK(stage.all<msg::stepped>()[0].record.rows == 8);
}

TEST_CASE("rows that are gathered when the run stops are returned") {
  driven stage = model();
  stage.tell(rollouts(4, 0, 1));
  SUBCASE("and come") {
    stage.tell(msg::stop{});
    stage.answer_all();
  }
  SUBCASE("and cannot be had") {
    stage.tell(msg::stop{});
    stage.answer(0, unreached);
  }
  SUBCASE("and could not be had") {
    stage.answer(0, unreached);
    stage.tell(msg::stop{});
  }
  SUBCASE("and are given up") { stage.tell(msg::abort{unreached, 1s}); }
  SUBCASE("and could not be had, and are given up") {
    stage.answer(0, unreached);
    stage.tell(msg::abort{unreached, 1s});
  }
  stage.answer_all();
  CHECK(stage.order(0).back() == "destructor");
  REQUIRE(stage.all<msg::finished>().size() == 1);
  CHECK(stage.all<msg::finished>()[0].rows.held == 16);
  CHECK(stage.all<msg::finished>()[0].rows.trained == 0);
}

TEST_CASE("a stage that waits for rows says so") {
  driven stage = model();
  stage.tell(rollouts(4, 0, 1));
  stage.answer(0, unreached);
  stage.tell(msg::asked{});
  REQUIRE(stage.all<msg::standing>().size() == 1);
  CHECK(stage.all<msg::standing>()[0].value.waits == "to try again: " + to_string(unreached));
}

TEST_CASE("whatever is lost and whenever, each row is given to one worker or lost by name, once") {
  for_all([] {
    driven stage = model(failing::drops_rows);
    std::map<std::size_t, std::uint64_t> lives{{1, 1}, {2, 1}};  // by node
    const auto prompts = *rc::gen::inRange<std::int64_t>(4, 24);
    for (std::int64_t prompt = 0; prompt < prompts; ++prompt) {
      const auto node = *rc::gen::inRange<std::size_t>(1, 3);
      const auto made = rollouts(1, prompt, node, lives[node]);
      if (*rc::gen::inRange(0, 6) == 0) {
        const auto gone = *rc::gen::inRange<std::size_t>(1, 3);
        stage.tell(loss(gone, lives[gone]++));
      }
      stage.tell(made);
      if (!stage.open(0).empty() && *rc::gen::inRange(0, 2) == 0) {
        const bool gathers = stage.open(0).front().what == msg::task::kind::gather;
        if (gathers && *rc::gen::inRange(0, 3) == 0)
          stage.answer(0, unreached);
        else
          stage.answer(0);
      }
      if (!stage.open(1).empty() && *rc::gen::inRange(0, 2) == 0)
        stage.answer(1);
      stage.now += *rc::gen::inRange(0, 500) * 1ms;
      stage.tell(msg::tick{});
    }
    for (int second = 0; second < 3; ++second) {
      stage.answer_all();
      stage.now += 1s;
      stage.tell(msg::tick{});
    }
    for (const auto& each : stage.all<msg::failed>()) {  // there is nothing that could be trained
      RC_ASSERT(each.why.cause.find("all 16 rows of its batch were lost") == 0);
      return;
    }
    std::size_t rows = 0;
    std::size_t tombstones = 0;
    for (const auto& step : stage.all<msg::stepped>()) {
      rows += step.record.rows;
      tombstones += step.record.tombstones;
      RC_ASSERT(step.record.rows + step.record.tombstones == 16);
    }
    std::size_t dropped = 0;
    for (const auto& each : stage.all<msg::setback>())
      dropped += each.what.dropped;
    RC_ASSERT(dropped == tombstones);
    RC_ASSERT(rows + tombstones == static_cast<std::size_t>(prompts / 4) * 16);
  });
}
