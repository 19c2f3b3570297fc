// SPDX-License-Identifier: Apache-2.0
#include "assembly.hpp"

#include "driver_role.hpp"
#include "resumption.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/flow/check.hpp"

namespace twinkle::runtime {

session_machine make_session(const blueprint& plan, const place::layout& placed, const assembly_options& options,
                             run_listener& listener) {
  std::vector<session_stage> stages;
  for (const stage_plan& stage : placed.stages) {
    session_stage made{plan.stages[stage.ordinal].name, !stage.observes()};
    if (!stage.loads.empty())
      made.watches = plan.publications[stage.loads.front().publication].stage;
    stages.push_back(std::move(made));
  }
  session_machine::limits bounds;
  bounds.steps = plan.stop_after ? plan.stop_after->steps : 0;
  bounds.resumed = options.resumed ? options.resumed->step : 0;
  bounds.driven = plan.driver != nullptr;
  bounds.stop_patience = options.stop_patience;
  bounds.quiet = options.quiet;
  bounds.standing = options.standing;
  return {plan.name, std::move(stages), bounds, listener};
}

void spawn_stage(const stage_plan& stage, const assembly_options& options, const seams& world, busy_meter& meter) {
  const auto kit = options.kit ? options.kit(stage) : std::make_shared<stage_kit>(stage, options.seed);
  const auto make = [kit, world, &meter, other = options.worker,
                     here = options.here](std::size_t index) -> std::unique_ptr<actor_role> {
    if (here && kit->plan.workers[index].node != *here)
      return nullptr;
    if (other)
      return other(kit, index, world, meter);
    return std::make_unique<worker_role>(kit, index, world, meter);
  };
  for (std::size_t index = 0; index < stage.workers.size(); ++index)
    world.life.spawn(address::worker(stage.ordinal, index), make(index));
  const address router = address::router(stage.ordinal);
  world.life.spawn(router, std::make_unique<router_role>(stage_machine{stage, options.policies}, router, world, meter, make));
}

void spawn_all(const blueprint& plan, const place::layout& placed, const assembly_options& options, const seams& world, busy_meter& meter,
               session_machine& session, std::function<void()> on_done) {
  world.life.spawn(address::session(), std::make_unique<session_role>(session, world, meter, std::move(on_done)));
  for (const stage_plan& stage : placed.stages)
    spawn_stage(stage, options, world, meter);
  if (plan.driver)
    world.life.spawn(address::client(0), std::make_unique<driver_role>(plan.name, plan.driver, world));
}

place::layout prepare(const blueprint& plan, const assembly_options& options) {
  const verdict found = check(plan);
  place::layout placed;
  std::vector<std::string> problems = found.problems;
  if (problems.empty()) {
    placed = options.machines ? place::lay_out(plan, *options.machines) : place::lay_out(plan);
    problems = placed.problems;
  }
  if (problems.empty()) {
    save_every(options.save_every, placed);
    if (options.resumed)
      resume_from(options.resumed, plan, placed);
    return placed;
  }
  std::string text = "graph '" + plan.name + "' cannot run:";
  for (const std::string& each : problems)
    text += "\n  - " + each;
  throw error(text);
}

}  // namespace twinkle::runtime
