// SPDX-License-Identifier: Apache-2.0
// How a stage goes on without workers that are gone, and with those that take their places.
#include <doctest/doctest.h>

#include "driven.hpp"

using namespace flow_test;
using namespace std::chrono_literals;
using twinkle::address;
using twinkle::failing;
using twinkle::fault;
using twinkle::weights;
namespace msg = twinkle::msg;
using texts = std::vector<std::string>;

namespace {

// The sampler of 4 workers, loaded with version 0, whose endpoint may be retried.
driven samplers(std::size_t retries, std::size_t respawns = 0, failing failed = failing::ends_run) {
  shape of;
  of.sample.retries = retries;
  of.sample.failed = failed;
  twinkle::stage_plan plan = plan_of(pipeline(of), sampler_at);
  plan.respawns = respawns;
  driven made{plan};
  made.start();
  made.tell(msg::published{0, weights{{}, 0}});
  made.answer_all();
  return made;
}

}  // namespace

TEST_CASE("the rows of a worker that fails are sampled by another, and the run hears of it") {
  driven stage = samplers(1);
  stage.tell(msg::rows{0, numbered(4)});
  stage.answer(2, fault{"", "", std::nullopt, "planted"});
  CHECK(stage.order(3) == texts{"constructor", "load 0", "sample 1", "sample 1"});
  stage.answer_all();
  REQUIRE(stage.all<msg::rows>().size() == 1);
  CHECK(numbers_of(stage.all<msg::rows>()[0].value) == numbers{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3});
  REQUIRE(stage.all<msg::setback>().size() == 1);
  CHECK(stage.all<msg::setback>()[0].what.why.cause == "planted");
  CHECK(stage.all<msg::failed>().empty());
}

TEST_CASE("a row that is lost takes as many children with it as it would have had, so that steps stay whole") {
  driven stage = samplers(0, 0, failing::drops_rows);
  stage.tell(msg::rows{0, numbered(4)});
  stage.answer(1, fault{"", "", std::nullopt, "planted"});
  stage.answer_all();
  REQUIRE(stage.all<msg::rows>().size() == 1);
  const twinkle::batch made = stage.all<msg::rows>()[0].value;
  CHECK(numbers_of(made) == numbers{0, 0, 0, 0, 2, 2, 2, 2, 3, 3, 3, 3});
  CHECK(lost_in(made) == texts{"0:1/0", "0:1/1", "0:1/2", "0:1/3"});
  CHECK(lost_in(made[{3, 4}]).size() == 4);  // in their place
}

TEST_CASE("a worker that is gone before its stage is built ends the run, and the stage is not built") {
  for (const std::size_t respawns : {0, 1}) {
    shape of;
    of.sample.retries = respawns;
    twinkle::stage_plan plan = plan_of(pipeline(of), sampler_at);
    plan.respawns = respawns;
    driven stage{plan};
    stage.tell(msg::lost{1, "it died"});
    stage.tell(msg::build{});
    REQUIRE(stage.all<msg::failed>().size() == 1);
    CHECK(stage.all<msg::failed>()[0].why.cause == "it died");
    CHECK(stage.all<msg::respawn>().empty());
    CHECK(stage.all<msg::built>().empty());
  }
}

TEST_CASE("case K-F9: a worker in the place of one that died loads what the others have before it samples") {
  driven stage = samplers(1, 1);
  stage.tell(msg::rows{0, numbered(4)});
  stage.tell(msg::lost{2, "it died"});
  CHECK(stage.order(3).back() == "sample 1");
  stage.tell(msg::back{2});
  REQUIRE(stage.all<msg::respawn>().size() == 1);
  CHECK(stage.all<msg::respawn>()[0].worker == 2);
  stage.tell(msg::rows{0, numbered(4, 4)});
  CHECK(stage.order(2) == texts{"constructor", "load 0", "sample 1", "constructor", "load 0", "sample 1"});
}

TEST_CASE("respawns are bounded, and the stage goes on with those that are left") {
  driven stage = samplers(2, 1);
  stage.tell(msg::lost{2, "it died"});
  stage.tell(msg::back{2});
  stage.tell(msg::lost{2, "it died again"});
  stage.tell(msg::back{2});
  CHECK(stage.all<msg::respawn>().size() == 1);
  CHECK(stage.all<msg::failed>().empty());
  stage.tell(msg::rows{0, numbered(4)});
  CHECK(stage.order(3) == texts{"constructor", "load 0", "sample 1", "sample 1"});
  for (const std::size_t worker : {0, 1, 3})
    stage.tell(msg::lost{worker, "it died"});
  REQUIRE(stage.all<msg::failed>().size() == 1);
  CHECK(stage.all<msg::failed>()[0].why.cause.find("it died") != std::string::npos);
}

TEST_CASE("a stage whose endpoints keep something of the rows cannot go on without a worker") {
  driven model{plan_of(pipeline(), model_at)};
  model.start();
  model.answer_all();
  model.tell(msg::lost{1, "it died"});
  REQUIRE(model.all<msg::failed>().size() == 1);
  CHECK(to_string(model.all<msg::failed>()[0].why) == "test/model[dp=1]@local:gpu5: it died");
}

TEST_CASE("a body that ignores its call back is named, abandoned and replaced") {
  driven stage = samplers(1, 1);
  stage.tell(msg::rows{0, numbered(4)});
  for (const std::size_t worker : {0, 1, 3})
    stage.answer(worker);
  stage.now = 10min;
  stage.tell(msg::tick{});
  CHECK(stage.order(3).back() == "sample 1");
  CHECK(stage.all<msg::cancel>().size() == 1);
  stage.now += 10s;
  stage.tell(msg::tick{});
  CHECK(stage.all<msg::abandon>().size() == 1);
  CHECK(stage.all<msg::respawn>().size() == 1);
  for (const std::size_t worker : {2, 3})
    while (!stage.open(worker).empty())
      stage.answer(worker);
  CHECK(stage.all<msg::rows>().size() == 1);
  stage.tell(msg::stop{});
  stage.answer_all();
  REQUIRE(stage.all<msg::finished>().size() == 1);
  CHECK(stage.all<msg::finished>()[0].abandoned == texts{"test/sampler[dp=2]@local:gpu2 in sample"});
}

TEST_CASE("case K-F7: what an edge owes for rows is paid once, however often they were tried or lost") {
  driven stage = samplers(2, 0, failing::drops_rows);
  stage.tell(msg::rows{0, numbered(4)});
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t worker = 0; worker < 4; ++worker)
      while (!stage.open(worker).empty()) {
        moved = true;
        if (rows_of(stage.open(worker)[0].input).tags()[0].id.sequence == 0)
          stage.answer(worker, fault{"", "", std::nullopt, "planted"});
        else
          stage.answer(worker);
      }
  }
  std::size_t credits = 0;
  for (const msg::credit& each : stage.all<msg::credit>())
    credits += each.rows;
  CHECK(credits == 4);
  REQUIRE(stage.all<msg::rows>().size() == 1);
  CHECK(stage.all<msg::rows>()[0].value.rows() == 12);
  CHECK(stage.all<msg::rows>()[0].value.tombstone_count() == 4);
}
