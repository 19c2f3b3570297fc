// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "twinkle/flow/graph.hpp"
#include "twinkle/sim/story.hpp"

namespace twinkle::runtime {

/// What the verb simulate of a pipeline's program is told.
struct simulate_flags {
  std::string program;
  std::uint64_t seed = 1;    ///< the first
  std::size_t seeds = 1;     ///< how many
  bool swarm = false;        ///< what goes wrong is drawn
  std::size_t nodes = 1;     ///< with the graph's devices shared out over them
  double until_s = 86400;    ///< of virtual time
  std::map<std::string, std::string> options = {};  ///< of the graph, those that were given
};

/// Runs `build` in virtual time under each seed, as `told`, and prints what came of it: the same for the same seeds.
/// Returns 0, or 1 if anything was wrong, which it explains.
[[nodiscard]] int simulate_command(const std::function<void(graph&)>& build, const sim::story& told,
                                   const simulate_flags& given, std::ostream& out);

}  // namespace twinkle::runtime
