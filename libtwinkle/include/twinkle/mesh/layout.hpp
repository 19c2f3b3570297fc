// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "twinkle/base/interval.hpp"
#include "twinkle/mesh/device_mesh.hpp"

namespace twinkle {

/// Who holds what of an extent: the rows of a batch, or a weight along its sharded dimension. Ranks that hold one
/// interval are replicas of each other; a rank may hold nothing.
struct layout {
  std::size_t extent = 0;
  std::vector<interval> held = {};       ///< by rank
  std::vector<std::size_t> places = {};  ///< by rank: a device or a node, the nearer the less is moved; may be left out

  friend bool operator==(const layout&, const layout&) = default;
};

/// Where the results of a stage lie: each data rank's rows at its representative, nothing at the other ranks.
[[nodiscard]] layout producer_layout(const device_mesh& mesh, std::size_t rows);

/// What the ranks of a stage need: each the rows of its data rank.
[[nodiscard]] layout consumer_layout(const device_mesh& mesh, std::size_t rows);

}  // namespace twinkle
