// SPDX-License-Identifier: Apache-2.0
// What a run as a whole decides, message by message; whole runs are in stories/.
#include "twinkle/flow/session_machine.hpp"

#include <doctest/doctest.h>

using namespace std::chrono_literals;
using twinkle::address;
using twinkle::fault;
using twinkle::session_machine;
namespace msg = twinkle::msg;
using texts = std::vector<std::string>;

namespace {

const fault planted{"test/model[dp=1]", "train", std::nullopt, "planted"};

// A source (0), a model (1) and a judge (2) that only looks at the model's weights.
struct driven final : twinkle::run_listener {
  explicit driven(std::size_t steps = 0) : machine("test", stages(), {.steps = steps, .quiet = twinkle::duration{0}}, *this) {}

  static std::vector<twinkle::session_stage> stages() {
    return {{"source"}, {"model"}, {"judge", false, std::size_t{1}}};
  }

  void tell(const twinkle::message& content) {
    for (const twinkle::envelope& each : machine.receive(content, now)) {
      std::string what = "other";
      if (std::holds_alternative<msg::build>(each.content))
        what = "build";
      else if (std::holds_alternative<msg::begin>(each.content))
        what = "begin";
      else if (const auto* stop = std::get_if<msg::stop>(&each.content))
        what = "stop at " + std::to_string(stop->await_version);
      else if (std::holds_alternative<msg::abort>(each.content))
        what = "abort";
      posted.push_back(what + " -> " + std::to_string(each.to.stage));
    }
  }
  void start() {
    tell(msg::build{});
    for (std::size_t stage = 0; stage < 3; ++stage)
      tell(msg::built{stage});
    posted.clear();
  }
  void step() { tell(msg::stepped{}); }
  void finish(std::size_t stage, std::int64_t version = -1) { tell(msg::finished{stage, {}, version, {}}); }

  void on_fault(const fault& why) override { faults.push_back(why.cause); }
  void on_step(const twinkle::step_record&) override { ++steps_heard; }
  void on_interrupt(const std::string& what) override { interrupts.push_back(what); }

  session_machine machine;
  twinkle::time_point now{};
  texts posted;
  texts faults;
  texts interrupts;
  std::size_t steps_heard = 0;
};

}  // namespace

TEST_CASE("a run begins when every stage is built, once") {
  driven run;
  run.tell(msg::build{});
  CHECK(run.posted == texts{"build -> 0", "build -> 1", "build -> 2"});
  run.posted.clear();
  for (const std::size_t stage : {2, 0, 0, 2})
    run.tell(msg::built{stage});
  CHECK(run.posted.empty());
  run.tell(msg::built{1});
  CHECK(run.posted == texts{"begin -> 0", "begin -> 1", "begin -> 2"});
  run.tell(msg::built{1});
  CHECK(run.posted.size() == 3);
}

TEST_CASE("after its steps a run stops what rows flow through first, and then who looks at the last weights") {
  driven run{2};
  run.start();
  run.step();
  CHECK(run.posted.empty());
  run.step();
  CHECK(run.posted == texts{"stop at -1 -> 0", "stop at -1 -> 1"});
  run.step();  // one that was under way is done, and counts
  run.finish(0);
  CHECK(run.posted.size() == 2);
  run.finish(1, 7);
  CHECK(run.posted.back() == "stop at 7 -> 2");
  CHECK_FALSE(run.machine.done());
  run.finish(2);
  CHECK(run.machine.done());
  CHECK(run.machine.report().steps == 3);
  CHECK(run.steps_heard == 3);
  CHECK(run.machine.report().good());
}

TEST_CASE("a run whose streams have all ended stops without steps") {
  driven run;
  run.start();
  for (int step = 0; step < 5; ++step)
    run.step();
  run.tell(msg::ended{0});
  CHECK(run.posted.empty());
  run.tell(msg::ended{1});
  CHECK(run.posted == texts{"stop at -1 -> 0", "stop at -1 -> 1"});
}

TEST_CASE("the first fault is the cause of the end; later ones are consequences") {
  driven run;
  run.start();
  run.tell(msg::failed{1, planted});
  CHECK(run.posted == texts{"abort -> 0", "abort -> 1", "abort -> 2"});
  run.tell(msg::failed{0, {"", "", std::nullopt, "a consequence"}});
  run.tell(msg::interrupt{});
  run.step();
  CHECK(run.posted.size() == 3);
  for (std::size_t stage = 0; stage < 3; ++stage)
    run.finish(stage);
  CHECK(run.machine.done());
  CHECK(run.faults == texts{"planted"});
  CHECK(run.machine.report().why == planted);
  CHECK_FALSE(run.machine.report().good());
}

TEST_CASE("a fault while others are being built ends the run before it begins") {
  driven run;
  run.tell(msg::build{});
  run.tell(msg::built{0});
  run.posted.clear();
  run.tell(msg::failed{1, planted});
  CHECK(run.posted == texts{"abort -> 0", "abort -> 1", "abort -> 2"});
  run.tell(msg::built{1});
  run.tell(msg::built{2});
  CHECK(run.posted.size() == 3);
}

TEST_CASE("a fault in one stage while the run stops is told to those that are still there") {
  driven run{1};
  run.start();
  run.step();
  run.finish(0);
  run.posted.clear();
  run.tell(msg::failed{1, planted});
  CHECK(run.posted == texts{"abort -> 1", "abort -> 2"});
  run.finish(1);
  run.finish(2);
  CHECK(run.machine.done());
  CHECK(run.machine.report().why == planted);
}

TEST_CASE("an interrupt waits for the end of the step, and gives up at its deadline naming who did not end") {
  driven run{100};
  run.start();
  run.now = 5s;
  run.tell(msg::interrupt{});
  run.now = 6s;
  run.tell(msg::interrupt{});  // the second says nothing new
  CHECK(run.interrupts == texts{"stopping at the end of the step, in 10.000s at the latest"});
  CHECK(run.posted.empty());
  CHECK(run.machine.next_deadline() == 15s);
  run.step();
  CHECK(run.posted == texts{"stop at -1 -> 0", "stop at -1 -> 1"});
  CHECK(run.machine.next_deadline() == 15s);
  run.finish(0);
  run.now = 15s - 1ns;
  run.tell(msg::tick{});
  CHECK(run.faults.empty());
  run.now = 15s;
  run.tell(msg::tick{});
  CHECK(run.faults == texts{"the run was asked to stop, and model, judge did not end within 10.000s"});
  CHECK_FALSE(run.machine.next_deadline());
  CHECK(run.posted.back() == "abort -> 2");
  CHECK(run.machine.report().interrupted);
}

TEST_CASE("an interrupt of a run without steps, or before it begins, stops it at once") {
  driven without;
  without.start();
  without.tell(msg::interrupt{});
  CHECK(without.posted == texts{"stop at -1 -> 0", "stop at -1 -> 1"});

  driven early{10};
  early.tell(msg::build{});
  early.tell(msg::built{0});
  early.posted.clear();
  early.tell(msg::interrupt{});
  CHECK(early.posted == texts{"stop at -1 -> 0", "stop at -1 -> 1"});
  early.tell(msg::built{1});
  early.tell(msg::built{2});
  CHECK(early.posted.size() == 2);
  CHECK(early.machine.next_deadline() == 10s);
}

TEST_CASE("rows that are nowhere else are counted as returned") {
  driven run;
  run.start();
  run.tell(msg::interrupt{});
  run.tell(msg::finished{0, {.emitted = 20, .held = 1, .sent = {{0, 19}}}, -1, {}});
  run.tell(msg::finished{1, {.trained = 8, .held = 4, .received = {{0, 12}}}, -1, {"model[dp=1] in train"}});
  run.finish(2);
  CHECK(run.machine.report().emitted == 20);
  CHECK(run.machine.report().trained == 8);
  CHECK(run.machine.report().returned == 12);  // 5 held, 7 on their way
  CHECK(run.machine.report().abandoned == texts{"model[dp=1] in train"});
  CHECK_FALSE(run.machine.report().good());
}

TEST_CASE("the newest weights are kept, whichever comes last") {
  driven run;
  run.start();
  for (const std::uint64_t version : {0, 2, 1})
    run.tell(msg::newest{twinkle::weights{{}, version}});
  CHECK(run.machine.report().newest->version() == 2);
}

TEST_CASE("a run that is done hears nothing more") {
  driven run;
  run.start();
  run.tell(msg::interrupt{});
  for (std::size_t stage = 0; stage < 3; ++stage)
    run.finish(stage);
  REQUIRE(run.machine.done());
  run.posted.clear();
  run.now = 1h;
  for (const twinkle::message& each : std::vector<twinkle::message>{
           msg::failed{1, planted}, msg::tick{}, msg::interrupt{}, msg::stepped{}, msg::ended{0}, msg::built{0}})
    run.tell(each);
  CHECK(run.posted.empty());
  CHECK(run.machine.report().good());
  CHECK(run.machine.report().steps == 0);
}
