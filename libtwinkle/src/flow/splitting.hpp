// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "twinkle/flow/split.hpp"

namespace twinkle::internal {

struct costly {
  std::uint64_t cost = 0;
  std::size_t index = 0;
};

/// The costs from index `first` on, heaviest first; equal ones in their order.
[[nodiscard]] std::vector<costly> heaviest_first(std::span<const std::uint64_t> costs, std::size_t first = 0);

/// The split in which row i is in part part_of[i] of `parts`, with the parts in the order of their first rows.
[[nodiscard]] split split_by(std::span<const std::uint64_t> costs, std::span<const std::size_t> part_of,
                             std::size_t parts);

/// Throws `error` if the costs add up to 2^64 or more: sums of some of them need not be watched then.
void check_sum(std::span<const std::uint64_t> costs, std::string_view who);

}  // namespace twinkle::internal
