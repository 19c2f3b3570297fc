// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "twinkle/flow/blueprint.hpp"
#include "twinkle/flow/stage_plan.hpp"

namespace twinkle::place {

struct placed_group {
  std::string name;
  std::string device_type;
  std::vector<std::size_t> devices;  ///< of its ranks
};

/// A graph on one machine, which is taken to have what the groups ask for.
struct layout {
  std::vector<std::string> problems = {};
  std::vector<placed_group> groups = {};
  std::vector<stage_plan> stages = {};
};

/// Lists are placed first, then counts in the order of declaration, on the first free devices. Two groups that share
/// devices, or two groups of one name that differ, are problems.
[[nodiscard]] layout lay_out(const blueprint& plan);

/// Devices x stages, then what flows where: rows, credits, buffers, bounds.
[[nodiscard]] std::string draw(const blueprint& plan, const layout& placed);

}  // namespace twinkle::place
