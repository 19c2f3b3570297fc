// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <memory>

#include "caf_curtain.hpp"
#include "twinkle/flow/seams.hpp"
#include "twinkle/flow/stage_plan.hpp"

namespace twinkle::runtime {

/// An actor that calls the router of a stage for CAF actors: it checks what they ask for, and answers each call once.
/// It enters the census, and ends with a curtain.
[[nodiscard]] caf::actor spawn_gate(caf::actor_system& home, const stage_plan& stage, post_seam& world,
                                    std::shared_ptr<census> alive);

}  // namespace twinkle::runtime
