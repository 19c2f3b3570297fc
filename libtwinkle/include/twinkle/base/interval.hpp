// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace twinkle {

/// A half-open run [first, end) of rows, or of a weight's sharded dimension. Everything that moves is one.
struct interval {
  std::size_t first = 0;
  std::size_t end = 0;

  [[nodiscard]] constexpr std::size_t size() const { return end - first; }
  [[nodiscard]] constexpr bool empty() const { return first == end; }
  [[nodiscard]] constexpr bool contains(std::size_t at) const { return first <= at && at < end; }

  friend constexpr bool operator==(const interval&, const interval&) = default;
};

/// What two intervals share; empty where they do not meet.
[[nodiscard]] constexpr interval intersect(const interval& a, const interval& b) {
  const std::size_t first = std::max(a.first, b.first);
  return {first, std::max(first, std::min(a.end, b.end))};
}

/// Part `index` of `parts` even, contiguous parts of `length`: with length = q * parts + r, the first r parts have
/// q + 1, the others q.
[[nodiscard]] constexpr interval even_part(std::size_t length, std::size_t parts, std::size_t index) {
  const std::size_t quotient = length / parts;
  const std::size_t remainder = length % parts;
  const std::size_t first = index * quotient + std::min(index, remainder);
  return {first, first + quotient + (index < remainder ? 1 : 0)};
}

[[nodiscard]] inline std::string to_string(const interval& rows) {
  return "[" + std::to_string(rows.first) + "," + std::to_string(rows.end) + ")";
}

}  // namespace twinkle
