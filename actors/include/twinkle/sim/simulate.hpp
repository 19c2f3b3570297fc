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
#include "twinkle/flow/graph.hpp"
#include "twinkle/flow/run_report.hpp"
#include "twinkle/flow/seams.hpp"
#include "twinkle/flow/stage_policies.hpp"
#include "twinkle/place/cluster.hpp"
#include "twinkle/sim/mishap.hpp"
#include "twinkle/sim/observer.hpp"
#include "twinkle/sim/row_at.hpp"
#include "twinkle/sim/rule.hpp"
#include "twinkle/sim/violation.hpp"

namespace twinkle::sim {

/// Between nodes, each of which runs what a real one does: the same gateway, membership, fetches and releases. Whatever
/// is sent takes a time between `latency_min` and `latency_max`, and nothing overtakes another on its way from one node to
/// another.
struct network {
  duration latency_min{0};
  duration latency_max{0};
  duration patience = std::chrono::seconds(5);  ///< without a sign of life, after which a node is taken to be lost
  /// Of rows that ride in a message; more stay where they are, and are fetched.
  std::size_t inline_bytes_max = std::size_t{64} << 10;
};

struct options {
  std::uint64_t seed = 1;      ///< of the order in which things happen
  std::uint64_t run_seed = 1;  ///< of the run itself: what bodies draw
  duration until = std::chrono::hours(24);  ///< of virtual time
  /// Events that may pass while virtual time stands and no rows go from stage to stage; with more, the run is given up.
  std::size_t idle_max = 1'000'000;
  /// Unset: one node, with all that the graph's groups ask for. Routers and the session are on the first node.
  std::optional<place::cluster> cluster = std::nullopt;
  network links = {};
  std::vector<rule> rules = {};      ///< what bodies cost, and what stands in for them
  std::function<duration(work)> lasts = nullptr;  ///< of bodies on rows of which no rule says it; null: no time
  std::vector<mishap> mishaps = {};  ///< in any order
  std::vector<observer*> observers = {};
  chooser_seam* chooser = nullptr;   ///< null: random, by `seed`
  std::optional<time_point> interrupt = std::nullopt;  ///< when to ask the run to end, as Ctrl-C does
  stage_policies policies = {};
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
  std::vector<std::string> setbacks = {};  ///< what failed, and did not end the run
  std::vector<std::string> waits = {};     ///< who waited for whom, when it was last said that nothing moves
  std::vector<grade> grades = {};
  std::vector<violation> violations = {};  ///< promises that it broke: none, ever
  std::vector<row_at> lost = {};           ///< rows that are nowhere, or that a run that did not end still had
  std::vector<std::size_t> kept = {};      ///< bytes that several nodes kept for others, as soon after each step as it is all released
  std::vector<std::size_t> fetched = {};   ///< bytes that each of several nodes fetched from others
  std::uint64_t history = 0;   ///< a hash of all that happened, in order
  std::size_t events = 0;
};

/// Runs a graph in virtual time on the caller's thread, its real bodies one at a time. The same graph, options and
/// bodies give the same outcome, history included. Throws `error` if the graph does not pass check().
[[nodiscard]] outcome simulate(const graph& pipeline, const options& how = {});

}  // namespace twinkle::sim
