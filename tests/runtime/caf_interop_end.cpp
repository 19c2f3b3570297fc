// SPDX-License-Identifier: Apache-2.0
// How a run in a user's actor system ends, whoever goes first.
#include <atomic>
#include <thread>

#include "caf_interop_app.hpp"
#include "runtime/caf_world.hpp"
#include "stories/toy.hpp"

namespace tk = twinkle;

using namespace app;

TEST_CASE("when the user's system is shut down under a run, the run ends with a fault and nothing hangs") {
  for (const std::size_t threads : {1, 2, 4})
    for (const bool awaits : {true, false})
      for (const bool begun : {true, false, false, false}) {
        application mine{threads};
        mine.system->await_actors_before_shutdown(awaits);
        tk::run_listener nobody;
        tk::session run{pipeline({}), mine.options(), nobody};
        if (begun)
          CHECK(numbers_in(mine.ask(tk::interop::router(run, "doubler"), {"twice", numbers({1, 2})})) == longs{2, 4});
        mine.system.reset();
        const tk::run_report& report = run.wait();
        CHECK(toy::why(report) == "doubling: the actor system that it ran in was shut down before its end; destroy the "
                                  "session first, or interrupt it and wait");
        CHECK(report.abandoned.empty());
        run.interrupt();
      }
}

TEST_CASE("when the user's system is shut down in the middle of busy steps, the run is given up whole") {
  for (int time = 0; time < 5; ++time) {
    application mine;
    struct counting final : tk::run_listener {
      void on_step(const tk::step_record&) override {
        const std::lock_guard lock(mutex);
        ++steps;
        stepped.notify_all();
      }
      std::mutex mutex;
      std::condition_variable stepped;
      std::size_t steps = 0;
    } seen;
    tk::session run{toy::pipeline({.steps = 100000000}), mine.options(), seen};
    {
      std::unique_lock lock(seen.mutex);
      seen.stepped.wait(lock, [&] { return seen.steps >= 2; });
    }
    mine.system.reset();
    CHECK(toy::why(run.wait()).find("was shut down before its end") != std::string::npos);
    CHECK(run.wait().steps == seen.steps);
    CHECK(run.wait().abandoned.empty());
  }
}

TEST_CASE("a system may go after the run has ended and before the session does") {
  application mine;
  tk::run_listener nobody;
  tk::session run{toy::pipeline(), mine.options(), nobody};
  CHECK(toy::why(run.wait()) == "");
  mine.system.reset();
  CHECK(toy::why(run.wait()) == "");
}

TEST_CASE("a session may end on another thread than it began on") {
  tk::run_listener nobody;
  auto run = std::make_unique<tk::session>(toy::pipeline(), tk::run_options{}, nobody);
  std::thread([&] { run.reset(); }).join();
  CHECK(!run);
}

TEST_CASE("a world in the user's system leaves nothing behind there") {
  const application mine;
  struct counted final : tk::actor_role {
    explicit counted(std::atomic<int>& of) : alive(of) { ++alive; }
    ~counted() override { --alive; }
    void receive(tk::message&&) override {}
    std::atomic<int>& alive;
  };
  std::atomic<int> alive = 0;
  {
    tk::runtime::caf_world world{*mine.system};
    for (std::size_t at = 0; at < 20; ++at)
      world.spawn(tk::address::worker(0, at), std::make_unique<counted>(alive));
    world.post({}, tk::address::worker(0, 3), tk::msg::tick{});
    CHECK(alive == 20);
  }
  CHECK(alive == 0);
}
