// SPDX-License-Identifier: Apache-2.0
// A run that asks its stages how they stand, and says who waits for whom.
#include <doctest/doctest.h>

#include "twinkle/flow/session_machine.hpp"

using namespace std::chrono_literals;
namespace msg = twinkle::msg;

namespace {

struct heard final : twinkle::run_listener {
  void on_quiet(twinkle::duration since, const std::vector<std::string>& waits) override {
    lines = waits;
    quiet.push_back(since);
  }
  std::vector<twinkle::duration> quiet;
  std::vector<std::string> lines;
};

}  // namespace

TEST_CASE("a run in which nothing moves says who waits for whom, less and less often, and is silent when it moves") {
  heard listener;
  twinkle::session_machine run{"test", {{"sampler"}}, {.quiet = 30s}, listener};
  (void)run.receive(msg::build{}, twinkle::time_point{});
  std::uint64_t answers = 1;
  for (twinkle::time_point now = 30s; now <= 240s; now += 30s) {
    REQUIRE(run.next_deadline() == now);
    const auto asked = run.receive(msg::tick{}, now);
    REQUIRE(asked.size() == 1);
    CHECK(std::holds_alternative<msg::asked>(asked[0].content));
    if (now == 240s)
      ++answers;
    twinkle::stage_standing standing{0, 4, 0, answers, "for s/1 in sample"};
    (void)run.receive(msg::standing{0, standing}, now);
  }
  CHECK(listener.quiet == std::vector<twinkle::duration>{30s, 60s, 120s});
  CHECK(listener.lines == std::vector<std::string>{"test/sampler waits for s/1 in sample"});
}
