// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <ostream>
#include <source_location>
#include <string>
#include <utility>

#include "twinkle/sim/story.hpp"

namespace twinkle::sim {

/// A story as a fixture of doctest:
///
///     TEST_CASE_FIXTURE(twinkle::sim::simulation, "a crashed sampler loses no prompt") {
///       nodes(3, 8).latency(1ms, 5ms);
///       at(2s).crash("sampler", 1, 5s);
///       const auto seen = run(grpo, 10min);
///       CHECK(seen.steps("model") == 200);
///     }
///
/// Whatever is checked behind a run and fails is explained: which seed, when, which mishaps, who waits, how to repeat it.
class simulation : public story {
 public:
  /// Runs `build` under every seed of the story, for `until` of virtual time at most, the first seed twice, and fails the
  /// test where a run is wrong by itself: see story. `then` may check each; what is returned is of the first.
  seen run(const std::function<void(graph&)>& build, duration until, const std::function<void(const seen&)>& then = nullptr,
           const std::source_location& where = std::source_location::current()) {
    told first;
    bool begun = false;
    for (const std::uint64_t seed : seeds()) {
      told each = tell(build, until, seed, in_environment(seed) + " " + again(), !begun);
      explain(each.explained);
      for (const std::string& wrong : each.wrong)
        DOCTEST_ADD_FAIL_CHECK_AT(where.file_name(), static_cast<int>(where.line()), wrong);
      if (then)
        then(each.what);
      if (!std::exchange(begun, true))
        first = std::move(each);
    }
    explain(first.explained);
    return std::move(first.what);
  }

 private:
  using log = std::function<void(std::ostream*)>;

  // The line that runs this test case alone. What a filter or a shell would not take for itself stands for any character.
  [[nodiscard]] static std::string again() {
    const doctest::ContextOptions& how = *doctest::getContextOptions();
    std::string name = how.currentTest->m_name;
    for (char& each : name)
      if (std::string(",\"\\$`!").find(each) != std::string::npos)
        each = '?';
    return std::string(how.binary_name.c_str()) + " -tc=\"" + name + "\"";
  }

  void explain(std::string how) {
    told_ = told_ && how == explained_;
    explained_ = std::move(how);
  }

  std::string explained_;
  bool told_ = false;  // once is enough for all that is wrong with one run
  doctest::detail::ContextScope<log> log_ = doctest::detail::ContextScope<log>([this](std::ostream* into) {
    if (!explained_.empty())
      *into << (std::exchange(told_, true) ? "as above" : "\n" + explained_);
  });
};

}  // namespace twinkle::sim
