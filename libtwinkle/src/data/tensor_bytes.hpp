// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "twinkle/data/element.hpp"

namespace twinkle::data {

/// The bytes of a tensor of that shape; nothing where they are more than can be counted.
[[nodiscard]] inline std::optional<std::size_t> tensor_bytes(const std::vector<std::size_t>& shape, element type) {
  if (std::find(shape.begin(), shape.end(), std::size_t{0}) != shape.end())
    return 0;
  std::size_t bytes = bytes_of(type);
  for (const std::size_t size : shape) {
    if (size > std::numeric_limits<std::size_t>::max() / bytes)
      return std::nullopt;
    bytes *= size;
  }
  return bytes;
}

}  // namespace twinkle::data
