// SPDX-License-Identifier: Apache-2.0
#include "caf_interop_app.hpp"
#include "stories/toy.hpp"

namespace tk = twinkle;

using namespace app;

namespace users {

/// A message of the application's own.
struct note {
  std::string text;
};

}  // namespace users

CAF_BEGIN_TYPE_ID_BLOCK(users_messages, first_custom_type_id)
CAF_ADD_TYPE_ID(users_messages, (users::note))
CAF_END_TYPE_ID_BLOCK(users_messages)

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(users::note)

namespace {

/// Sends calls, and hands on what comes back as messages, no responses.
class sender final : public caf::event_based_actor {
 public:
  sender(caf::actor_config& config, caf::actor router, caf::actor reader)
      : caf::event_based_actor(config), router_(std::move(router)), reader_(std::move(reader)) {}

  caf::behavior make_behavior() override {
    for (std::uint64_t id = 1; id <= 3; ++id)
      send(router_, tk::interop::call{"twice", numbers({static_cast<std::int64_t>(id), 0}), id});
    return {[this](tk::interop::answer& got) { send(reader_, std::move(got)); }};
  }

 private:
  caf::actor router_;
  caf::actor reader_;
};

/// Calls, and does not live to see the answer.
class short_lived final : public caf::event_based_actor {
 public:
  short_lived(caf::actor_config& config, caf::actor router) : caf::event_based_actor(config), router_(std::move(router)) {}

  caf::behavior make_behavior() override {
    link_to(router_);
    send(router_, tk::interop::call{"twice", numbers({13, 1})});
    return {[](const std::string&) {}};
  }

 private:
  caf::actor router_;
};

class notebook final : public caf::event_based_actor {
 public:
  explicit notebook(caf::actor_config& config) : caf::event_based_actor(config) {}
  caf::behavior make_behavior() override {
    return {[](users::note& written) { return written; }};
  }
};

std::string read_back(caf::actor_system& system, const std::string& text) {
  std::string got;
  caf::scoped_actor self{system};
  const caf::actor book = system.spawn<notebook>();
  self->request(book, caf::infinite, users::note{text})
      .receive([&](users::note& back) { got = back.text; }, [&](caf::error& why) { got = system.render(why); });
  self->send_exit(book, caf::exit_reason::user_shutdown);
  return got;
}

}  // namespace

TEST_CASE("a run in the user's actor system gives what one in its own gives, on one thread of theirs too") {
  tk::run_listener nobody;
  const tk::run_report own = tk::run(toy::pipeline(), {}, nobody);
  for (const std::size_t threads : {1, 3}) {
    const application mine{threads};
    const tk::run_report report = tk::run(toy::pipeline(), mine.options(), nobody);
    CHECK(toy::why(report) == "");
    CHECK(report.steps == own.steps);
    CHECK(report.trained == own.trained);
    REQUIRE(report.newest);
    CHECK(report.newest->find("weight")->values.as<double>()[0] == own.newest->find("weight")->values.as<double>()[0]);
    CHECK(mine.system->registry().running() == 0);
    CHECK(read_back(*mine.system, "still usable") == "still usable");
  }
}

TEST_CASE("an actor of the user's calls an endpoint by name, and gets the rows of all workers in its order") {
  const application mine;
  const auto end = std::make_shared<valve>();
  tk::run_listener nobody;
  tk::session run{pipeline({end}), mine.options(), nobody};
  const caf::actor router = tk::interop::router(run, "doubler");
  CHECK(numbers_in(mine.ask(router, {"twice", numbers({1, 2, 3, 4, 5})})) == longs{2, 4, 6, 8, 10});
  CHECK(numbers_in(mine.ask(tk::interop::router(run, "again"), {"twice", numbers({7})})) == longs{14});
  const auto state = mine.ask(tk::interop::router(run, "again"), {"state", {}, 5});
  CHECK(std::get<tk::interop::answer>(state).id == 5);
  CHECK(std::holds_alternative<tk::weights>(
      std::get<tk::payload>(std::get<tk::interop::answer>(state).value.value())));
  end->open();
  CHECK(toy::why(run.wait()) == "");
}

TEST_CASE("a call that is sent is answered by a message with its id") {
  const application mine;
  const auto end = std::make_shared<valve>();
  tk::run_listener nobody;
  tk::session run{pipeline({end}), mine.options(), nobody};
  caf::scoped_actor self{*mine.system};
  const caf::actor asks = mine.system->spawn<sender>(tk::interop::router(run, "doubler"), caf::actor{self});
  for (std::uint64_t id = 1; id <= 3; ++id)
    self->receive([&](tk::interop::answer& got) {
      CHECK(got.id == id);
      CHECK(got.endpoint == "twice");
      CHECK(numbers_in(got) == longs{static_cast<std::int64_t>(2 * id), 0});
    });
  self->send_exit(asks, caf::exit_reason::user_shutdown);
  end->open();
}

TEST_CASE("a call that cannot be is answered with a fault that says why") {
  const application mine;
  const auto end = std::make_shared<valve>();
  tk::run_listener nobody;
  tk::session run{pipeline({end}), mine.options(), nobody};
  CHECK_THROWS_WITH_AS(tk::interop::router(run, "tripler"),
                       "run 'doubling' has no stage 'tripler'; it has again, doubler, source", tk::error);
  const caf::actor router = tk::interop::router(run, "doubler");
  CHECK(fault_in(mine.ask(router, {"thrice", numbers({1, 2})})) ==
        "doubling/doubler in thrice: the stage has no such endpoint; it has twice, load, by .name or by file and line");
  CHECK(fault_in(mine.ask(router, {"twice"})) == "doubling/doubler in twice: it takes a batch, and the call carries none");
  CHECK(fault_in(mine.ask(router, {"load", tk::weights{}})) ==
        "doubling/doubler in load: only the graph calls it: it loads published weights");
  CHECK(fault_in(mine.ask(tk::interop::router(run, "source"), {"next"})) ==
        "doubling/source in next: only the graph calls it: it is the source of a stream");
  CHECK(fault_in(mine.ask(tk::interop::router(run, "again"), {"state", numbers({1})})) ==
        "doubling/again in state: it takes nothing, and the call carries something");
  CHECK(fault_in(mine.ask(router, {"twice", numbers({1})})).find("1 row") != std::string::npos);
  CHECK(fault_in(mine.ask(router, {"twice", tk::batch{}.with(tk::column<double>{"other"}, {1, 2})})).find("number") !=
        std::string::npos);
  CHECK(numbers_in(mine.ask(router, {"twice", numbers({1, 2})})) == longs{2, 4});
  end->open();
}

TEST_CASE("a session with an actor system of its own has no routers for others") {
  const auto end = std::make_shared<valve>();
  tk::run_listener nobody;
  tk::session run{pipeline({end}), {}, nobody};
  CHECK_THROWS_WITH_AS(tk::interop::router(run, "doubler"), doctest::Contains("give it yours with run_options::system"),
                       tk::error);
  end->open();
}

TEST_CASE("a caller that is linked and dies in the middle of its call hurts nobody") {
  const application mine;
  const auto end = std::make_shared<valve>();
  const auto slow = std::make_shared<valve>();
  tk::run_listener nobody;
  tk::session run{pipeline({end, slow}), mine.options(), nobody};
  const caf::actor router = tk::interop::router(run, "doubler");
  {
    caf::scoped_actor self{*mine.system};
    const caf::actor caller = mine.system->spawn<short_lived>(router);
    slow->await_waiting();
    self->send_exit(caller, caf::exit_reason::unhandled_exception);
    self->wait_for(caller);
  }
  slow->open();
  CHECK(numbers_in(mine.ask(router, {"twice", numbers({1, 2})})) == longs{2, 4});
  end->open();
  CHECK(toy::why(run.wait()) == "");
}

TEST_CASE("calls that the end of the run overtakes get a fault, and later ones CAF's own error") {
  const application mine;
  tk::run_listener nobody;
  std::optional<tk::session> run;
  run.emplace(pipeline({}), tk::run_options{.stop_patience = std::chrono::milliseconds(1), .system = mine.system.get()},
              nobody);
  const caf::actor router = tk::interop::router(*run, "doubler");
  CHECK(numbers_in(mine.ask(router, {"twice", numbers({1, 2})})) == longs{2, 4});
  {
    caf::scoped_actor self{*mine.system};
    run->interrupt();
    // Some are answered, some come too late for the router, some for the gate: none is left alone.
    for (std::int64_t at = 0; at < 1000; ++at)
      self->request(router, caf::infinite, tk::interop::call{"twice", numbers({at, at})})
          .receive([](tk::interop::answer&) {}, [](caf::error&) {});
  }
  static_cast<void>(run->wait());
  run.reset();
  const auto late = mine.ask(router, {"twice", numbers({1, 2})});
  REQUIRE(std::holds_alternative<std::string>(late));
  CHECK(std::get<std::string>(late).find("request_receiver_down") != std::string::npos);
  CHECK(read_back(*mine.system, "still usable") == "still usable");
}
