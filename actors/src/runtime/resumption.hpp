// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "twinkle/flow/blueprint.hpp"
#include "twinkle/flow/checkpoint.hpp"
#include "twinkle/place/layout.hpp"

namespace twinkle::runtime {

/// The stage that keeps saves itself each so many steps; 0: never.
void save_every(std::size_t steps, place::layout& placed);

/// The run goes on from a checkpoint: sources behind their first rows that were trained, what was kept given back,
/// routers where they were. Throws `error` if the graph keeps nothing, or needs versions that are not there.
void resume_from(std::shared_ptr<const checkpoint> before, const blueprint& plan, place::layout& placed);

}  // namespace twinkle::runtime
