// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace twinkle {

/// How far a stage is, and what it waits for.
struct stage_standing {
  std::size_t done = 0;      ///< rows of its calls under way whose workers have answered
  std::size_t rows = 0;      ///< of its calls under way
  std::size_t held = 0;      ///< rows that lie at its inputs
  std::uint64_t answers = 0; ///< that its workers have given since it was built: it moves as long as they grow
  std::string waits = {};    ///< "for grpo/sampler[dp=1]@local:gpu1 in sample"; empty if it waits for nothing
};

}  // namespace twinkle
