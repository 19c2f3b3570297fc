// SPDX-License-Identifier: Apache-2.0
#include "twinkle/runtime/session.hpp"

#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>

#include "stories/toy.hpp"
#include "twinkle/sim/simulate.hpp"

namespace tk = twinkle;

namespace {

class recorder final : public tk::run_listener {
 public:
  void on_step(const tk::step_record& step) override { steps.push_back(step); }
  void on_graded(const std::string&, std::int64_t version, const tk::metrics&) override { graded.push_back(version); }

  std::vector<tk::step_record> steps;
  std::vector<std::int64_t> graded;
};

bool same(const tk::step_record& a, const tk::step_record& b) {
  return a.step == b.step && a.digest == b.digest && a.rows == b.rows && a.version == b.version &&
         a.staleness_max == b.staleness_max && a.values.find("weight") == b.values.find("weight") &&
         a.values.find("place") == b.values.find("place");
}

}  // namespace

TEST_CASE("a run on threads gives what its simulation gives, step by step") {
  const auto simulated = tk::sim::simulate(toy::pipeline());
  for (const tk::bodies run : {tk::bodies::own_thread, tk::bodies::shared})
    for (int time = 0; time < 5; ++time) {
      recorder seen;
      const tk::run_report report = tk::run(toy::pipeline({.run = run}), {}, seen);
      CHECK(toy::why(report) == "");
      REQUIRE(seen.steps.size() == simulated.steps.size());
      for (std::size_t step = 0; step < seen.steps.size(); ++step)
        CHECK(same(seen.steps[step], simulated.steps[step]));
      CHECK(seen.graded == std::vector<std::int64_t>{0, 4, 6});
      REQUIRE(report.newest);
      CHECK(report.newest->version() == 6);
    }
}

TEST_CASE("rows that were emitted were trained or are counted as returned") {
  tk::run_listener nobody;
  const tk::run_report report = tk::run(toy::pipeline({.batches = 10, .steps = 0}), {}, nobody);
  CHECK(report.emitted == 80);
  CHECK(report.trained == 160);
  CHECK(report.returned == 0);
}

TEST_CASE("an interrupt from another thread ends the run with a whole step") {
  struct waiting final : tk::run_listener {
    void on_step(const tk::step_record&) override {
      const std::lock_guard lock(mutex);
      ++steps;
      stepped.notify_all();
    }
    std::mutex mutex;
    std::condition_variable stepped;
    std::size_t steps = 0;
  } seen;
  tk::session started{toy::pipeline({.steps = 100000000}), {}, seen};
  {
    std::unique_lock lock(seen.mutex);
    seen.stepped.wait(lock, [&] { return seen.steps >= 3; });
  }
  started.interrupt();
  const tk::run_report& report = started.wait();
  CHECK(report.interrupted);
  CHECK(toy::why(report) == "");
  CHECK(report.steps == seen.steps);
}

TEST_CASE("a graph with problems does not start") {
  tk::run_listener nobody;
  CHECK_THROWS_WITH_AS(tk::session(toy::pipeline({.step = 0}), {}, nobody),
                       doctest::Contains("rebatch(0) makes no batch"), tk::error);
}
