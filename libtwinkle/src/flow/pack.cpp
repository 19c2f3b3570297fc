// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "splitting.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle {
namespace {

using internal::costly;
using parts_of_items = std::vector<std::vector<costly>>;

std::uint64_t cost_of(const std::vector<costly>& items) {
  std::uint64_t cost = 0;
  for (const costly& each : items)
    cost += each.cost;
  return cost;
}

// Best fit, heaviest first: each goes where the least room is left, and opens a part where there is none.
parts_of_items best_fit(const std::vector<costly>& items, std::uint64_t cap) {
  parts_of_items parts;
  std::set<std::pair<std::uint64_t, std::size_t>> room;
  for (const costly& item : items) {
    const auto found = room.lower_bound({item.cost, 0});
    const auto [left, part] = found == room.end() ? std::pair{cap, parts.size()} : *found;
    if (found == room.end())
      parts.emplace_back();
    else
      room.erase(found);
    room.emplace(left - item.cost, part);
    parts[part].push_back(item);
  }
  return parts;
}

// Deals the costliest part of two items or more into two, until there are enough.
void halve(parts_of_items& parts, std::size_t at_least) {
  std::set<std::pair<std::uint64_t, std::size_t>> whole;
  const auto add = [&](std::size_t part) {
    if (parts[part].size() > 1)
      whole.emplace(cost_of(parts[part]), part);
  };
  for (std::size_t part = 0; part < parts.size(); ++part)
    add(part);
  while (parts.size() < at_least) {
    const auto costliest = std::prev(whole.end());
    const std::size_t part = costliest->second;
    whole.erase(costliest);
    std::array<std::vector<costly>, 2> halves;
    for (std::size_t at = 0; at < parts[part].size(); ++at)
      halves[at % 2].push_back(parts[part][at]);
    parts[part] = std::move(halves[0]);
    parts.push_back(std::move(halves[1]));
    add(part);
    add(parts.size() - 1);
  }
}

// Parts of items that fit the cap, `at_least` of them; evenly filled if that takes no more than the fewest.
parts_of_items fill(const std::vector<costly>& items, std::uint64_t cap, std::size_t at_least) {
  parts_of_items tight = best_fit(items, cap);
  const std::size_t count = std::max(tight.size(), at_least);
  if (count == 0)
    return tight;
  std::vector<std::uint64_t> costs;
  for (const costly& item : items)
    costs.push_back(item.cost);
  const split even = balance(costs, count, {.equal_counts = false});
  if (*std::max_element(even.costs.begin(), even.costs.end()) > cap) {
    halve(tight, at_least);
    return tight;
  }
  parts_of_items filled(count);
  for (std::size_t part = 0; part < count; ++part)
    for (const std::size_t at : even.parts[part])
      filled[part].push_back(items[at]);
  return filled;
}

}  // namespace

split pack(std::span<const std::uint64_t> costs, std::uint64_t cap, std::size_t at_least) {
  internal::check_sum(costs, "pack");
  if (cap == 0)
    throw error("pack: the cap is 0; it must be 1 or more");
  if (at_least > costs.size())
    throw error("pack: " + std::to_string(costs.size()) + " rows are fewer than the " + std::to_string(at_least) +
                " parts that there have to be at least; give more rows, or ask for fewer parts");
  std::vector<costly> items = internal::heaviest_first(costs);
  const auto fits = std::find_if(items.begin(), items.end(), [&](const costly& item) { return item.cost <= cap; });
  const std::vector<costly> alone(items.begin(), fits);
  items.erase(items.begin(), fits);

  parts_of_items parts = fill(items, cap, at_least - std::min(at_least, alone.size()));
  for (const costly& item : alone)
    parts.push_back({item});
  std::vector<std::size_t> part_of(costs.size());
  for (std::size_t part = 0; part < parts.size(); ++part)
    for (const costly& item : parts[part])
      part_of[item.index] = part;
  split made = internal::split_by(costs, part_of, parts.size());
  for (const costly& item : alone)
    made.oversize.push_back(item.index);
  std::sort(made.oversize.begin(), made.oversize.end());
  return made;
}

}  // namespace twinkle
