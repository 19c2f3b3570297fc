// SPDX-License-Identifier: Apache-2.0
#include "keep_check.hpp"

#include "twinkle/flow/stage_shape.hpp"

namespace twinkle::flow {

std::vector<std::string> keeping_problems(const blueprint& plan) {
  if (plan.keepings.empty())
    return {};
  std::vector<std::string> found;
  const std::size_t keeper = plan.keepings.front().stage;
  const std::string& name = plan.stages[keeper].name;
  if (plan.keepings.size() > 1)
    found.push_back("stage '" + name + "' keeps its state, and so does '" + plan.stages[plan.keepings[1].stage].name +
                    "'; one stage can, that whose results are the steps");
  const std::vector<std::size_t> steps = step_endpoints(plan, keeper);
  if (steps.empty())
    found.push_back("stage '" + name + "' keeps its state, but none of its results is a step; keep that of the stage " +
                    "with stop_after, or that publishes");
  if (steps.size() > 1)
    found.push_back("stage '" + name + "' keeps its state, but results of two endpoints are steps, " +
                    plan.name_of({keeper, steps[0]}) + " and " + plan.name_of({keeper, steps[1]}) +
                    "; let it publish after the one with stop_after");
  if (plan.stop_after && plan.stop_after->of.stage != keeper)
    found.push_back("stage '" + name + "' keeps its state, but the steps are those of '" +
                    plan.stages[plan.stop_after->of.stage].name + "', by stop_after; keep the state of that stage");
  for (const blueprint::publication& each : plan.publications)
    if (each.stage != keeper)
      found.push_back("stage '" + name + "' keeps its state, and '" + plan.stages[each.stage].name +
                      "' publishes weights that nobody keeps; a resumed run would begin with them anew");
  if (plan.driver)
    found.push_back("stage '" + name + "' keeps its state, but a driver decides what happens, and nobody keeps where it "
                    "is; save in the driver, by calls");
  return found;
}

}  // namespace twinkle::flow
