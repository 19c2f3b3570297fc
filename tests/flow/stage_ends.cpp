// SPDX-License-Identifier: Apache-2.0
// How a stage fails, stops and is given up, and that nothing unexpected harms it.
#include <doctest/doctest.h>

#include "driven.hpp"

using namespace flow_test;
using namespace std::chrono_literals;
using twinkle::address;
using twinkle::fault;
using twinkle::weights;
namespace msg = twinkle::msg;
using texts = std::vector<std::string>;

namespace {

driven stage_of(std::size_t at) { return driven{plan_of(pipeline(), at)}; }

msg::rows rollouts(std::size_t prompts) { return {1, children(numbered(prompts), 4)}; }

const fault planted{"test/model[dp=1]@local:gpu5", "train", std::nullopt, "planted"};

std::vector<std::int32_t> cancelled(const driven& stage) {
  std::vector<std::int32_t> found;
  for (const auto& each : stage.posted)
    if (std::holds_alternative<msg::cancel>(each.content))
      found.push_back(each.to.index);
  return found;
}

}  // namespace

TEST_CASE("a failing worker ends the stage's work at once: its peers are cancelled, and nothing more starts") {
  driven model = stage_of(model_at);
  model.start();
  model.answer_all();
  model.tell(rollouts(4));
  model.answer(1, planted);
  REQUIRE(model.all<msg::failed>().size() == 1);
  CHECK(model.all<msg::failed>()[0].why.cause == "planted");
  CHECK(model.all<msg::failed>()[0].why.place == planted.place);
  CHECK(model.all<msg::failed>()[0].why.rows == twinkle::interval{8, 16});
  CHECK(cancelled(model) == std::vector<std::int32_t>{0});
  const auto before = model.order(0).size();
  model.tell(rollouts(8));
  model.answer(0);
  CHECK(model.order(0).size() == before);
  CHECK(model.all<msg::failed>().size() == 1);
  CHECK(model.all<msg::stepped>().empty());
}

TEST_CASE("a stop while workers are being built lets them come up, and then go") {
  driven model = stage_of(model_at);
  model.tell(msg::build{});
  model.answer(0);
  model.tell(msg::stop{});
  CHECK(model.order(0) == texts{"constructor"});
  model.answer(1);
  CHECK(model.all<msg::built>().size() == 1);
  CHECK(model.order(0) == texts{"constructor", "destructor"});
  model.tell(msg::begin{});  // the session's, sent before it heard of the stop
  model.answer_all();
  CHECK(model.all<msg::finished>().size() == 1);
  CHECK(model.order(0) == texts{"constructor", "destructor"});
  CHECK(model.all<msg::finished>()[0].version == -1);
}

TEST_CASE("a stop lets running calls end, starts no more data, and counts what is left") {
  driven sampler = stage_of(sampler_at);
  sampler.start();
  sampler.tell(msg::published{0, weights{}});
  sampler.tell(msg::rows{0, numbered(4)});
  sampler.tell(msg::rows{0, numbered(8, 4)});  // 4 of them may start before version 1
  sampler.tell(msg::stop{});
  CHECK(sampler.order(0).back() == "sample 1");
  sampler.answer_all();
  CHECK(sampler.order(0).back() == "destructor");
  REQUIRE(sampler.all<msg::finished>().size() == 1);
  const auto rows = sampler.all<msg::finished>()[0].rows;
  REQUIRE(rows.received.size() == 1);
  CHECK(rows.received[0].first == 0);
  CHECK(rows.received[0].second == 12);
  CHECK(rows.held == 8 * 4 + 4);
  CHECK(sampler.all<msg::rows>().empty());
}

TEST_CASE("an abort while a stage closes names at its deadline who does not end, once") {
  driven model = stage_of(model_at);
  model.start();
  model.answer_all();
  model.tell(msg::stop{});
  model.answer(0);
  REQUIRE(model.open(1).size() == 1);
  model.now = 3s;
  model.tell(msg::abort{planted, 10s});
  CHECK(cancelled(model) == std::vector<std::int32_t>{0, 1});
  CHECK(model.next_deadline() == 13s);
  model.tell(msg::stop{});
  CHECK(model.next_deadline() == 13s);
  model.answer(0);
  model.now = 13s;
  model.tell(msg::tick{});
  REQUIRE(model.all<msg::finished>().size() == 1);
  CHECK(model.all<msg::finished>()[0].abandoned == texts{model.plan().team.places[1] + " in destructor"});
  CHECK(model.posted.size() > 1);
  CHECK(model.all<msg::abandon>().size() == 1);
}

TEST_CASE("an abort names what a body was in when it does not end") {
  driven model = stage_of(model_at);
  model.start();
  model.answer_all();
  model.tell(rollouts(4));
  model.answer(0);
  model.tell(msg::abort{planted, 10s});
  model.answer(0);  // its state call, which is forgotten
  model.answer(0);
  model.now = 10s;
  model.tell(msg::tick{});
  REQUIRE(model.all<msg::finished>().size() == 1);
  CHECK(model.all<msg::finished>()[0].abandoned == texts{model.plan().team.places[1] + " in train"});
  CHECK(model.all<msg::finished>()[0].rows.held == 16);
}

TEST_CASE("a stage that is gone says nothing more, whatever comes") {
  driven model = stage_of(model_at);
  model.start();
  model.answer_all();
  model.tell(msg::stop{});
  model.answer_all();
  const auto posted = model.posted.size();
  const auto tasks = model.order(0).size();
  model.now = 1h;
  for (const twinkle::message& each :
       std::vector<twinkle::message>{msg::stop{}, msg::abort{planted, 1s}, msg::begin{}, msg::tick{}, rollouts(4),
                                     msg::end{1}, msg::reply{0, 0, planted}, msg::reply{1, 99, planted}})
    model.tell(each);
  CHECK(model.posted.size() == posted);
  CHECK(model.order(0).size() == tasks);
}

TEST_CASE("messages that are early, late, twice or for another edge change nothing") {
  driven model = stage_of(model_at);
  model.tell(msg::begin{});
  model.tell(msg::build{});
  model.tell(msg::begin{});
  model.tell(msg::tick{});
  model.tell(msg::rows{7, numbered(100)});
  model.tell(msg::credit{7, 100});
  model.tell(msg::end{7});
  model.tell(msg::published{7, weights{}});
  model.tell(msg::reply{0, 77, planted});
  CHECK(model.order(0) == texts{"constructor"});
  const auto constructor = model.open(0).front().call;
  model.answer_all();
  model.tell(msg::reply{0, constructor, planted});
  model.tell(msg::begin{});
  model.tell(msg::begin{});
  model.answer_all();
  CHECK(model.order(0) == texts{"constructor", "state 0"});
  CHECK(model.all<msg::failed>().empty());
  CHECK(model.all<msg::built>().size() == 1);
}

TEST_CASE("a call of a client is answered once, with its value or its fault, and the stage goes on") {
  driven model = stage_of(model_at);
  const address client = address::client(3);
  auto how = call_with(numbered(4));
  how.endpoint = "train";
  model.tell(msg::call{1, client, 0, how});
  REQUIRE(model.all<msg::answer>().size() == 1);
  CHECK(model.all<msg::answer>()[0].value.failure().cause ==
        "the stage takes no calls before it is built, or at its end");
  model.start();
  model.answer_all();
  model.tell(msg::call{2, client, 0, how});
  model.answer_all();
  how.input = numbered(1);
  model.tell(msg::call{3, client, 0, how});
  model.answer_all();
  const auto answers = model.all<msg::answer>();
  REQUIRE(answers.size() == 3);
  CHECK(answers[1].id == 2);
  CHECK(std::get<twinkle::metrics>(one(answers[1].value.value())).find("rows") == 4.0);
  CHECK(answers[2].id == 3);
  CHECK(answers[2].value.failure().cause.starts_with("1 rows are fewer than the 2 data ranks"));
  CHECK(model.all<msg::failed>().empty());
}

TEST_CASE("a call that passes its deadline fails the stage, and those who are silent are cancelled") {
  driven model = stage_of(model_at);
  model.start();
  model.answer_all();
  CHECK_FALSE(model.next_deadline());
  model.tell(rollouts(4));
  model.answer(0);
  CHECK(model.next_deadline() == 10min);
  model.now = 10min;
  model.tell(msg::tick{});
  REQUIRE(model.all<msg::failed>().size() == 1);
  CHECK(model.all<msg::failed>()[0].why.cause ==
        "no answer at the deadline (600.000s) from " + model.plan().team.places[1]);
  CHECK(cancelled(model) == std::vector<std::int32_t>{1});
}

TEST_CASE("the time of a call that waits at the workers begins when those before it have ended") {
  driven model = stage_of(model_at);
  model.start();
  model.answer_all();
  model.tell(rollouts(8));  // train, state, train, state
  model.now = 9min;
  model.answer(0);
  CHECK(model.next_deadline() == 10min);
  model.answer(1);
  CHECK(model.next_deadline() == 19min);  // of the state
  model.answer(0);
  model.now = 18min;
  model.answer(1);
  CHECK(model.next_deadline() == 28min);
  model.now = 28min - 1ns;
  model.tell(msg::tick{});
  CHECK(model.all<msg::failed>().empty());
  model.now = 28min;
  model.tell(msg::tick{});
  REQUIRE(model.all<msg::failed>().size() == 1);
  CHECK(model.all<msg::failed>()[0].why.endpoint == "train");
}
