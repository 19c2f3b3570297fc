// SPDX-License-Identifier: Apache-2.0
#include "splitting.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "twinkle/base/error.hpp"

namespace twinkle {
namespace internal {

std::vector<costly> heaviest_first(std::span<const std::uint64_t> costs, std::size_t first) {
  std::vector<costly> order;
  order.reserve(costs.size() - first);
  for (std::size_t at = first; at < costs.size(); ++at)
    order.push_back({costs[at], at});
  std::sort(order.begin(), order.end(), [](const costly& a, const costly& b) {
    return a.cost != b.cost ? a.cost > b.cost : a.index < b.index;
  });
  return order;
}

split split_by(std::span<const std::uint64_t> costs, std::span<const std::size_t> part_of, std::size_t parts) {
  split made{std::vector<std::vector<std::size_t>>(parts), std::vector<std::uint64_t>(parts, 0)};
  std::vector<std::size_t> number(parts, parts);
  std::size_t met = 0;
  for (std::size_t row = 0; row < costs.size(); ++row) {
    std::size_t& part = number[part_of[row]];
    if (part == parts)
      part = met++;
    made.parts[part].push_back(row);
    made.costs[part] += costs[row];
  }
  return made;
}

void check_sum(std::span<const std::uint64_t> costs, std::string_view who) {
  std::uint64_t left = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t row = 0; row < costs.size(); ++row) {
    if (costs[row] > left)
      throw error(std::string(who) + ": with row " + std::to_string(row) + ", which costs " +
                  std::to_string(costs[row]) + ", the costs add up to 2^64 or more; count them in a larger unit");
    left -= costs[row];
  }
}

}  // namespace internal

std::vector<interval> mini_batches(std::size_t rows, std::size_t size, bool full) {
  if (size == 0)
    throw error("mini-batches: the size is 0; it must be 1 or more");
  if (full && rows % size != 0)
    throw error("mini-batches: " + std::to_string(rows) + " rows do not make full mini-batches of " +
                std::to_string(size) + ", the last would have " + std::to_string(rows % size) +
                "; choose a size that divides them, or allow a last one that is not full");
  std::vector<interval> cut;
  for (std::size_t first = 0; first < rows; first = cut.back().end)
    cut.push_back({first, first + std::min(size, rows - first)});
  return cut;
}

}  // namespace twinkle
