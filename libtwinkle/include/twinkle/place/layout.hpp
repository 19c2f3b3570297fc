// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "twinkle/flow/blueprint.hpp"
#include "twinkle/flow/stage_plan.hpp"
#include "twinkle/place/cluster.hpp"
#include "twinkle/place/placement.hpp"

namespace twinkle::place {

/// A graph on devices: its groups, and what each stage has to know. With problems there are no stages.
struct layout : placement {
  std::vector<stage_plan> stages = {};
};

/// Places the groups of a graph that check() found good, and gives each worker its node and devices. Two groups of one
/// name that differ are a problem.
[[nodiscard]] layout lay_out(const blueprint& plan, const cluster& machines);

/// The same on one machine, which is taken to have what the groups ask for.
[[nodiscard]] layout lay_out(const blueprint& plan);

/// Nodes x devices x stages, then what flows where: rows, credits, buffers, bounds.
[[nodiscard]] std::string draw(const blueprint& plan, const layout& placed);

}  // namespace twinkle::place
