// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "twinkle/mesh/mesh_sizes.hpp"

namespace twinkle {

struct expert_sizes {
  std::size_t ep = 1;
  std::size_t ep_fsdp = 1;
  std::size_t etp = 1;
};

/// Of `stage` ranks, as `given`, ep_fsdp being what is left over. Throws `error` with the values where their product
/// is not the stage.
[[nodiscard]] expert_sizes sizes_of_experts(const mesh_sizes& given, std::size_t stage);

}  // namespace twinkle
