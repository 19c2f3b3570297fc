// SPDX-License-Identifier: Apache-2.0
#include "twinkle/mesh/layout.hpp"

namespace twinkle {

layout producer_layout(const device_mesh& mesh, std::size_t rows) {
  layout made{rows, std::vector<interval>(mesh.world_size())};
  const std::vector<std::size_t> representatives = mesh.representatives();
  for (std::size_t part = 0; part < representatives.size(); ++part)
    made.held[representatives[part]] = mesh.get_slice(rows, part);
  return made;
}

layout consumer_layout(const device_mesh& mesh, std::size_t rows) {
  layout made{rows, std::vector<interval>(mesh.world_size())};
  for (std::size_t rank = 0; rank < mesh.world_size(); ++rank)
    made.held[rank] = mesh.get_slice(rows, mesh.data_rank(rank));
  return made;
}

}  // namespace twinkle
