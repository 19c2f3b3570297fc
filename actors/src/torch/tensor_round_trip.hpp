// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "twinkle/data/batch.hpp"
#include "twinkle/data/buffer.hpp"

namespace twinkle::torch_policy {

/// A column lent to a tensor, and the tensor lent to a buffer: for the tests, which see no libtorch.
struct tensor_round_trip {
  std::vector<std::int64_t> shape;
  double sum = 0;  // as libtorch adds it up
  buffer values;
};

/// Batch and tensor are gone when it returns; transposed, the tensor is not contiguous.
[[nodiscard]] tensor_round_trip round_trip(batch rows, std::string_view name, bool transposed = false);

}  // namespace twinkle::torch_policy
