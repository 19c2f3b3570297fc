// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "twinkle/flow/blueprint.hpp"

namespace twinkle {

[[nodiscard]] bool is_source(const blueprint::stage& stage);

/// The workers of a stage: one of a source without a mesh, else as many as its group makes.
[[nodiscard]] std::size_t worker_count(const blueprint::stage& stage);

/// The stage's mesh, or dp over its workers' devices where it has none.
[[nodiscard]] device_mesh mesh_of(const blueprint::stage& stage);

/// The endpoints of a stage whose results are steps: that of stop_after, and those that make versions.
[[nodiscard]] std::vector<std::size_t> step_endpoints(const blueprint& plan, std::size_t stage);

}  // namespace twinkle
