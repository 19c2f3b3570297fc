// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "twinkle/flow/blueprint.hpp"

namespace twinkle::flow {

/// What is wrong with what the graph keeps for a run that goes on later.
[[nodiscard]] std::vector<std::string> keeping_problems(const blueprint& plan);

}  // namespace twinkle::flow
