// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "twinkle/base/error.hpp"
#include "twinkle/base/list.hpp"

namespace twinkle {

inline constexpr std::size_t ranks_max = std::size_t{1} << 20;

/// Throws `error` if `axis` is not in `known`; `whose` is "device mesh" or "expert view".
template <class Names>
void check_known(std::string_view axis, const Names& known, std::string_view whose) {
  if (std::find(known.begin(), known.end(), axis) == known.end())
    throw error(std::string(whose) + ": unknown axis '" + std::string(axis) + "'; the axes are " + list(known));
}

/// `size` as a number of ranks. Throws `error` naming it if it is none.
[[nodiscard]] inline std::size_t positive(std::string_view name, std::int64_t size) {
  if (size < 1)
    throw error("device mesh: " + std::string(name) + " is " + std::to_string(size) + "; it must be 1 or more");
  if (static_cast<std::size_t>(size) > ranks_max)
    throw error("device mesh: " + std::string(name) + " is " + std::to_string(size) + "; it must be at most " +
                std::to_string(ranks_max));
  return static_cast<std::size_t>(size);
}

}  // namespace twinkle
