// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <vector>

#include "twinkle/observe/busy_meter.hpp"
#include "runtime/interruption.hpp"
#include "runtime/real_executor.hpp"

namespace tk = twinkle;
using namespace std::chrono_literals;

TEST_CASE("a body runs its jobs one after the other, in the order in which they came") {
  tk::runtime::real_clock clock;
  tk::runtime::real_executor executor(clock);
  std::vector<int> seen;
  std::promise<void> last;
  const auto body = executor.make("body", tk::bodies::own_thread);
  for (int job = 0; job < 1000; ++job)
    body->run([&seen, job] { seen.push_back(job); });
  body->run([&last] { last.set_value(); });
  last.get_future().wait();
  REQUIRE(seen.size() == 1000);
  for (int job = 0; job < 1000; ++job)
    CHECK(seen[static_cast<std::size_t>(job)] == job);
}

TEST_CASE("a wake that comes before the wait is not lost") {
  tk::runtime::real_clock clock;
  tk::runtime::real_executor executor(clock);
  const auto body = executor.make("body", tk::bodies::own_thread);
  int woken = 0;
  for (int time = 0; time < 200; ++time) {
    std::promise<void> through;
    body->run([&] {
      body->blocking().wait();
      ++woken;
      through.set_value();
    });
    body->blocking().wake();
    through.get_future().wait();
  }
  CHECK(woken == 200);
}

TEST_CASE("a sleeping body is woken by a cancel, with its cause") {
  tk::runtime::real_clock clock;
  tk::runtime::real_executor executor(clock);
  struct steady final : tk::clock_seam {
    explicit steady(const tk::runtime::real_clock& of) : of(of) {}
    [[nodiscard]] tk::time_point now() const override { return of.now(); }
    void wake(const tk::address&, tk::time_point) override {}
    const tk::runtime::real_clock& of;
  } time(clock);
  const auto body = executor.make("body", tk::bodies::own_thread);
  tk::runtime::interruption self(body->blocking());
  std::promise<std::string> said;
  body->run([&] {
    try {
      self.enter(7);
      self.sleep_until(time, 1h);
      said.set_value("slept");
    } catch (const tk::stopped& why) {
      said.set_value(why.cause().cause);
    }
  });
  self.cancel(7, {"test", "", std::nullopt, "enough"});
  CHECK(said.get_future().get() == "enough");
}

TEST_CASE("shared bodies run in the caller's turn") {
  tk::runtime::real_clock clock;
  tk::runtime::real_executor executor(clock);
  const auto body = executor.make("body", tk::bodies::shared);
  int ran = 0;
  body->run([&] { ++ran; });
  CHECK(ran == 1);
  CHECK_THROWS_WITH(body->blocking().wait(), doctest::Contains("blocking call"));
}

TEST_CASE("bodies on many threads may report that they run") {
  tk::busy_meter meter(2);
  tk::runtime::real_clock clock;
  tk::runtime::real_executor executor(clock);
  std::vector<std::unique_ptr<tk::body_seam>> bodies;
  std::atomic<int> left{4};
  std::promise<void> all;
  for (std::size_t at = 0; at < 4; ++at) {
    bodies.push_back(executor.make("body", tk::bodies::own_thread));
    bodies.back()->run([&, at] {
      for (int time = 0; time < 1000; ++time) {
        meter.begin(at % 2, clock.now());
        meter.end(at % 2, clock.now());
      }
      if (--left == 0)
        all.set_value();
    });
  }
  all.get_future().wait();
  const auto seen = meter.read(clock.now());
  CHECK(seen.busy.size() == 2);
  CHECK(seen.idle <= seen.whole);
}
