// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "twinkle/base/time.hpp"
#include "twinkle/flow/checkpoint.hpp"
#include "twinkle/flow/collected.hpp"
#include "twinkle/flow/graph.hpp"
#include "twinkle/flow/run_report.hpp"

namespace twinkle::sim {

struct options {
  std::uint64_t seed = 1;      ///< of the order in which things happen
  std::uint64_t run_seed = 1;  ///< of the run itself: what bodies draw
  duration until = std::chrono::hours(24);  ///< of virtual time
  std::optional<time_point> interrupt = std::nullopt;  ///< when to ask the run to end, as Ctrl-C does
  route::collector collector = route::collect_in_order;
  std::size_t save_every = 0;  ///< steps; 0: never
  std::function<void(const checkpoint&)> on_saved = nullptr;
  std::optional<checkpoint> resumed = std::nullopt;
  /// Events after which the process is taken to be dead: nothing is saved any more.
  std::optional<std::size_t> dies_after = std::nullopt;
};

struct grade {
  std::string stage;
  std::int64_t version = 0;
  metrics values;
};

struct outcome {
  run_report report = {};
  bool ended = false;          ///< else it was still going at `until`, or nothing could happen any more
  time_point at{};             ///< of virtual time
  std::optional<time_point> fault_at = std::nullopt;  ///< when the session heard of it
  std::vector<step_record> steps = {};
  std::vector<grade> grades = {};
  std::uint64_t history = 0;   ///< a hash of all that happened, in order
  std::size_t events = 0;
};

/// Runs a graph in virtual time on the caller's thread, its real bodies one at a time. The same graph, options and
/// bodies give the same outcome, history included. Throws `error` if the graph does not pass check().
[[nodiscard]] outcome simulate(const graph& pipeline, const options& how = {});

}  // namespace twinkle::sim
