// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "twinkle/flow/blueprint.hpp"

namespace twinkle {

[[nodiscard]] bool is_source(const blueprint::stage& stage);

/// The workers of a stage: one of a source without a mesh, else as many as its group makes.
[[nodiscard]] std::size_t worker_count(const blueprint::stage& stage);

/// The stage's mesh, or dp over its workers' devices where it has none.
[[nodiscard]] device_mesh mesh_of(const blueprint::stage& stage);

}  // namespace twinkle
