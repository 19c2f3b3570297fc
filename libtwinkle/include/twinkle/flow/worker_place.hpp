// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "twinkle/mesh/device_mesh.hpp"

namespace twinkle {

/// Where a worker sits: in its stage, in its mesh, on its devices.
struct worker_place {
  std::string name;                 ///< "grpo/sampler[dp=1]@local:gpu3", as faults show it
  std::size_t index = 0;            ///< among the workers of the stage
  std::vector<std::size_t> ranks;   ///< of the mesh, ascending
  std::vector<std::string> devices; ///< what its process sees
  std::shared_ptr<const device_mesh> mesh;
  std::size_t node = 0;                         ///< of the cluster, in its order
  std::string node_name = "local";
  std::vector<std::size_t> local_devices = {};  ///< of its ranks, numbered from 0 on each node

  [[nodiscard]] std::size_t data_rank() const { return mesh->data_rank(ranks.front()); }
};

}  // namespace twinkle
