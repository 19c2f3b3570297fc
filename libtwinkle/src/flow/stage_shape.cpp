// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/stage_shape.hpp"

#include <algorithm>
#include <set>

namespace twinkle {

bool is_source(const blueprint::stage& stage) {
  return std::any_of(stage.endpoints.begin(), stage.endpoints.end(),
                     [](const auto& each) { return each.kind == blueprint::role::source; });
}

std::size_t worker_count(const blueprint::stage& stage) {
  if (is_source(stage) && !stage.mesh)
    return 1;
  return static_cast<std::size_t>(stage.group.ranks.count()) / stage.group.gpus_per_worker;
}

device_mesh mesh_of(const blueprint::stage& stage) {
  if (stage.mesh)
    return *stage.mesh;
  // Each worker is one data rank, whatever the number of its devices: they are its tensor ranks.
  mesh_sizes sizes{.dp_size = static_cast<std::int64_t>(worker_count(stage))};
  if (stage.group.gpus_per_worker > 1)
    sizes.tp_size = static_cast<std::int64_t>(stage.group.gpus_per_worker);
  return device_mesh::from_sizes(sizes);
}

std::vector<std::size_t> step_endpoints(const blueprint& plan, std::size_t stage) {
  std::set<std::size_t> found;
  if (plan.stop_after && plan.stop_after->of.stage == stage)
    found.insert(plan.stop_after->of.endpoint);
  for (const blueprint::publication& each : plan.publications)
    if (each.stage == stage)
      found.insert(each.after);
  return {found.begin(), found.end()};
}

}  // namespace twinkle
