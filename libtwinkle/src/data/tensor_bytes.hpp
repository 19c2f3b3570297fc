// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include "twinkle/data/element.hpp"
#include "twinkle/data/weights.hpp"

namespace twinkle::data {

/// The bytes of a tensor of that shape, a range of sizes; nothing where they are more than can be counted.
template <class Shape>
[[nodiscard]] std::optional<std::size_t> tensor_bytes(const Shape& shape, element type) {
  if (std::find(shape.begin(), shape.end(), 0U) != shape.end())
    return 0;
  std::size_t bytes = bytes_of(type);
  for (const std::size_t size : shape) {
    if (size > std::numeric_limits<std::size_t>::max() / bytes)
      return std::nullopt;
    bytes *= size;
  }
  return bytes;
}

/// Throws `error` naming the tensor whose bytes or interval do not fit its shape.
void check_tensor(const std::string& name, const tensor& part);

}  // namespace twinkle::data
