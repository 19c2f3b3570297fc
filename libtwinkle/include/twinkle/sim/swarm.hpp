// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "twinkle/flow/blueprint.hpp"
#include "twinkle/place/layout.hpp"
#include "twinkle/sim/mishap.hpp"

namespace twinkle::sim {

/// A world that was drawn: how slow its links are, and what goes wrong in it, by time.
struct swarm {
  duration latency_min{0};
  duration latency_max{0};
  /// No rows ride in messages: all that are needed elsewhere are fetched, and are lost with the node that made them.
  bool fetches_all = false;
  std::vector<mishap> mishaps = {};
};

struct swarm_options {
  /// No mishap begins earlier: before all workers are built, the first that fails ends the run.
  time_point from = std::chrono::milliseconds(500);
  time_point until = std::chrono::minutes(1);   ///< nor later
  std::size_t mishaps_max = 8;
  duration lasts_max = std::chrono::seconds(10);
  std::size_t factor_max = 10;                  ///< of what is slow
  duration latency_max = std::chrono::milliseconds(50);
  duration patience = std::chrono::seconds(5);  ///< a node that is silent for longer is taken to be lost
};

/// Draws a world for a graph that is placed, the same for the same seed on every machine: first which kinds of mishaps
/// there are, each with even odds, then how many, when, where and for how long. It draws nothing that the graph is not
/// made to survive: the nodes are others than the first, where the routers and the session are, and what makes workers
/// fail only strikes stages whose retries, respawns and number of workers go around, all mishaps taken together.
[[nodiscard]] swarm draw_swarm(std::uint64_t seed, const blueprint& plan, const place::layout& placed,
                               const swarm_options& how = {});

}  // namespace twinkle::sim
