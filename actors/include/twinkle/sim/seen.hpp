// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "twinkle/sim/simulate.hpp"

namespace twinkle::sim {

/// What a simulated run came to, as a test asks it.
struct seen {
  struct step {
    time_point at{};
    step_record what;
  };

  outcome run = {};
  std::map<std::string, std::vector<step>> stages = {};  ///< by name, the steps that each made

  /// Throws `error` naming the stages if there is none of that name, as do all that ask for one.
  [[nodiscard]] std::size_t steps(const std::string& stage) const { return steps_of(stage).size(); }
  [[nodiscard]] std::int64_t staleness_max(const std::string& stage) const;
  /// How many steps had which greatest staleness.
  [[nodiscard]] std::map<std::int64_t, std::size_t> staleness(const std::string& stage) const;
  /// From each step to the next, the first from the beginning.
  [[nodiscard]] std::vector<duration> step_times(const std::string& stage) const;
  /// Rows that did not live to be trained in a step, but were dropped or lost by name.
  [[nodiscard]] std::size_t tombstones(const std::string& stage) const;
  /// What was trained, as a number for each step: its rows, in their order.
  [[nodiscard]] std::vector<std::uint64_t> digests(const std::string& stage) const;

  [[nodiscard]] std::size_t emitted() const { return run.report.emitted; }
  [[nodiscard]] std::size_t trained() const { return run.report.trained; }
  [[nodiscard]] std::size_t returned() const { return run.report.returned; }
  [[nodiscard]] std::size_t lost() const { return run.report.lost; }  ///< by name
  [[nodiscard]] std::size_t unaccounted() const { return run.lost.size(); }
  [[nodiscard]] std::size_t setbacks() const { return run.report.setbacks; }
  /// What ended the run, in words; empty if it ended well.
  [[nodiscard]] std::string fault() const;
  [[nodiscard]] const std::vector<step>& steps_of(const std::string& stage) const;
};

}  // namespace twinkle::sim
