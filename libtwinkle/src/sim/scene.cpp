// SPDX-License-Identifier: Apache-2.0
#include "scene.hpp"

#include <algorithm>

namespace twinkle::sim {

scene::scene(const blueprint& plan, const std::vector<stage_plan>& of)
    : stages(of), edges(plan.edges.size()), driven(plan.driver != nullptr), prefix_(plan.name.size() + 1) {
  for (const blueprint::stage& each : plan.stages)
    names_.push_back(each.name);
  for (const stage_plan& stage : stages) {
    resumed = resumed || stage.resumed != nullptr;
    for (std::size_t at = 0; at < stage.inputs.size(); ++at) {
      edge& made = edges[stage.inputs[at].edge];
      made.consumer = stage.ordinal;
      made.input = at;
      if (const auto& beside = stage.inputs[at].beside) {
        edges[beside->edge].consumer = stage.ordinal;
        edges[beside->edge].input = at;
        edges[beside->edge].side = 1;
      }
    }
    for (auto out = stage.outputs.begin(); out != stage.outputs.end(); ++out) {
      edge& made = edges[out->edge];
      made.producer = stage.ordinal;
      made.endpoint = out->endpoint;
      made.as_completed = out->as_completed;
      made.credits = out->credits;
      made.leads = std::none_of(stage.outputs.begin(), out,
                                [&](const stage_plan::out& before) { return before.endpoint == out->endpoint; });
    }
  }
  for (edge& each : edges) {
    const edge* at = &each;
    while (at != nullptr && each.ordered) {
      each.ordered = !at->as_completed;
      const auto before = input_of(at->producer, at->endpoint);
      at = before ? &edges[stages[at->producer].inputs[*before].edge] : nullptr;
    }
  }
}

std::optional<std::size_t> scene::input_of(std::size_t stage, std::size_t endpoint) const {
  const auto& inputs = stages[stage].inputs;
  const auto found = std::find_if(inputs.begin(), inputs.end(),
                                  [&](const stage_plan::in& each) { return each.endpoint == endpoint; });
  if (found == inputs.end())
    return std::nullopt;
  return static_cast<std::size_t>(found - inputs.begin());
}

bool scene::ends(std::size_t stage, std::size_t endpoint) const {
  const auto& outputs = stages[stage].outputs;
  return std::none_of(outputs.begin(), outputs.end(),
                      [&](const stage_plan::out& each) { return each.endpoint == endpoint; });
}

// "grpo/sampler[dp=1]@local:gpu3" without the graph and the device.
std::string scene::place(std::size_t stage, std::size_t worker) const {
  const std::string& whole = stages[stage].team.places[worker];
  return whole.substr(prefix_, whole.rfind("]@") + 1 - prefix_);
}

std::size_t unit_of(const stage_plan& stage, std::size_t endpoint, std::size_t worker) {
  switch (stage.endpoints[endpoint].how.kind) {
    case dispatch::slice: return worker;
    case dispatch::all: return 0;
    default: return stage.team.data_rank[worker];
  }
}

}  // namespace twinkle::sim
