// SPDX-License-Identifier: Apache-2.0
#include "resumption.hpp"

#include <algorithm>
#include <utility>

#include "twinkle/base/error.hpp"
#include "twinkle/flow/context.hpp"

namespace twinkle::runtime {
namespace {

// Built, and at once what it was.
std::function<std::shared_ptr<void>(context&)> built_again(const stage_plan& stage, const checkpoint& before) {
  return [make = stage.make, restore = stage.endpoints[stage.keeps->restore].target.invoke, state = before.state,
          step = before.step](context& ctx) {
    std::shared_ptr<void> object = make(ctx);
    const auto wrong = [step](const std::string& cause) {
      return error("restoring it as it was at step " + std::to_string(step) + ": " + cause);
    };
    try {
      if (const auto done = restore(object.get(), ctx, payload{state}); !done)
        throw error(done.failure().cause);
    } catch (const stopped&) {
      throw;
    } catch (const std::exception& cause) {
      throw wrong(cause.what());
    }
    return object;
  };
}

// A source that can pass over rows by itself does so, in whole batches: what is left of one comes as it came before.
void skip_rows(stage_plan& stage, const std::function<void(void*, std::uint64_t)>& skip, const checkpoint& before) {
  const std::uint64_t behind =
      before.trained.first_open(static_cast<std::uint32_t>(stage.ordinal), stage.emits_first) - stage.emits_first;
  const std::uint64_t rows = stage.emits_rows > 0 ? behind - behind % stage.emits_rows : behind;
  if (rows == 0)
    return;
  stage.emits_first += rows;
  stage.make = [make = stage.make, skip, rows](context& ctx) {
    std::shared_ptr<void> object = make(ctx);
    skip(object.get(), rows);
    return object;
  };
}

void check_versions(const stage_plan& keeper, const checkpoint& before) {
  const auto there = [&](std::size_t publication, std::size_t version) {
    return std::any_of(before.versions.begin(), before.versions.end(), [&](const checkpoint::published& each) {
      return each.publication == publication && each.value.version() == version;
    });
  };
  for (const stage_plan::publication& each : keeper.publications)
    for (const stage_plan::subscriber& to : each.subscribers)
      for (std::size_t version = to.bounded ? before.step - std::min(before.step, to.bound) : 0; version <= before.step;
           ++version)
        if (to.needs(version, before.step) && !there(each.ordinal, version))
          throw error("the checkpoint of step " + std::to_string(before.step) + " lacks version " +
                      std::to_string(version) + " of what " + keeper.team.stage +
                      " publishes, which this graph needs; resume with the graph that saved it, or begin anew");
}

const stage_plan* keeper_of(const place::layout& placed) {
  const auto found = std::find_if(placed.stages.begin(), placed.stages.end(),
                                  [](const stage_plan& each) { return each.keeps.has_value(); });
  return found == placed.stages.end() ? nullptr : &*found;
}

}  // namespace

void save_every(std::size_t steps, place::layout& placed) {
  for (stage_plan& each : placed.stages)
    if (each.keeps)
      each.keeps->every = steps;
}

void resume_from(std::shared_ptr<const checkpoint> before, const blueprint& plan, place::layout& placed) {
  const stage_plan* keeper = keeper_of(placed);
  if (keeper == nullptr)
    throw error("graph '" + plan.name + "' cannot be resumed: none of its stages keeps anything; call .keeps of the "
                "stage that trains");
  check_versions(*keeper, *before);
  for (stage_plan& stage : placed.stages) {
    stage.resumed = before;
    if (stage.keeps)
      stage.make = built_again(stage, *before);
    if (stage.source && plan.stages[stage.ordinal].skip)
      skip_rows(stage, plan.stages[stage.ordinal].skip, *before);
  }
}

}  // namespace twinkle::runtime
