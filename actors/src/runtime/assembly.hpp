// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "twinkle/observe/busy_meter.hpp"
#include "roles.hpp"
#include "twinkle/flow/blueprint.hpp"
#include "twinkle/flow/session_machine.hpp"
#include "twinkle/place/layout.hpp"

namespace twinkle::runtime {

/// Makes the actor of a worker, by its index.
using worker_maker = std::function<std::unique_ptr<actor_role>(const std::shared_ptr<stage_kit>&, std::size_t index,
                                                               const seams&, busy_meter&)>;

struct assembly_options {
  std::uint64_t seed = 0;
  std::optional<place::cluster> machines = std::nullopt;  ///< unset: one, with all that the graph's groups ask for
  std::optional<std::size_t> here = std::nullopt;         ///< our node; workers of others are made there. Unset: all are
  std::function<std::shared_ptr<stage_kit>(const stage_plan&)> kit = nullptr;  ///< null: one for this process alone
  duration stop_patience = std::chrono::seconds(10);
  duration quiet = std::chrono::seconds(30);             ///< without progress, until it says who waits for whom
  duration standing{0};                                  ///< how often it says how the stages stand; 0: never
  stage_policies policies = {};
  std::size_t save_every = 0;                            ///< steps; 0: never
  std::shared_ptr<const checkpoint> resumed = nullptr;   ///< where the run goes on
  worker_maker worker = nullptr;                         ///< null: its body runs behind the executor
};

/// The machine of a run's session, from its graph.
[[nodiscard]] session_machine make_session(const blueprint& plan, const place::layout& placed,
                                           const assembly_options& options, run_listener& listener);

/// Spawns the router and the workers of one stage.
void spawn_stage(const stage_plan& stage, const assembly_options& options, const seams& world, busy_meter& meter);

/// Spawns the session, all routers and workers, and the driver. A build message to the session begins the run.
void spawn_all(const blueprint& plan, const place::layout& placed, const assembly_options& options, const seams& world, busy_meter& meter,
               session_machine& session, std::function<void()> on_done);

/// The checked graph on its machines, to save and to go on as the options say. Throws `error` with all problems, a line
/// each.
[[nodiscard]] place::layout prepare(const blueprint& plan, const assembly_options& options = {});

}  // namespace twinkle::runtime
