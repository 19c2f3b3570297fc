// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace twinkle::route {

/// The workers of a stage, as the rules of dispatch and collect see them.
struct team {
  std::string stage;                         ///< "grpo/sampler"
  std::string group;                         ///< the device group's name
  std::vector<std::string> places;           ///< by worker
  std::vector<std::size_t> data_rank;        ///< by worker
  std::vector<std::size_t> representatives;  ///< workers, in data-rank order
  std::size_t virtual_stages = 1;            ///< of the pipeline: what numbers of micro-batches are multiples of

  [[nodiscard]] std::size_t workers() const { return places.size(); }
  [[nodiscard]] std::size_t data_ranks() const { return representatives.size(); }
};

}  // namespace twinkle::route
