// SPDX-License-Identifier: Apache-2.0
// Longest processing time first, then exchanges between the heaviest and the lightest part. Differencing
// (Karmarkar-Karp) leaves smaller gaps, but has no simple form for equal counts, and the gaps left here are below a
// thousandth where parts have tens of rows.
#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "splitting.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle {
namespace {

using internal::costly;

constexpr std::size_t parts_max = std::size_t{1} << 20;  // as many as a mesh may have ranks

void check(std::size_t items, std::string_view name, std::size_t parts, bool allow_empty) {
  if (parts == 0)
    throw error("balance: 0 parts; there must be 1 or more");
  if (items >= parts)
    return;
  if (!allow_empty)
    throw error("balance: " + std::to_string(items) + " " + std::string(name) + " are fewer than the " +
                std::to_string(parts) + " parts; give more, pad them, or allow empty parts");
  if (parts > parts_max)
    throw error("balance: " + std::to_string(parts) + " parts; there can be at most " + std::to_string(parts_max));
}

// The groups are numbered by their first rows.
std::vector<std::size_t> groups_of_rows(std::span<const std::uint64_t> keys) {
  std::unordered_map<std::uint64_t, std::size_t> known;
  std::vector<std::size_t> groups;
  groups.reserve(keys.size());
  for (const std::uint64_t key : keys)
    groups.push_back(known.try_emplace(key, known.size()).first->second);
  return groups;
}

struct part {
  std::uint64_t cost = 0;
  std::vector<costly> items = {};  // those that may be exchanged, heaviest first
};

struct placement {
  std::vector<part> parts;
  std::vector<std::size_t> part_of;  // by item
};

// Of n = q * parts + r items, equal counts put the first r into the first r parts, for good, and q of the others into
// each part: so the longer parts come first, as in even slices, whatever is exchanged later.
placement place(std::span<const std::uint64_t> costs, std::size_t parts, bool equal_counts) {
  const std::size_t fixed = equal_counts ? costs.size() % parts : 0;
  const std::size_t most = equal_counts ? costs.size() / parts : std::numeric_limits<std::size_t>::max();
  placement made{std::vector<part>(parts), std::vector<std::size_t>(costs.size())};
  for (std::size_t item = 0; item < fixed; ++item) {
    made.parts[item].cost = costs[item];
    made.part_of[item] = item;
  }
  // Cost, then items, so that each part gets its share of those that cost nothing, then the part.
  using load = std::tuple<std::uint64_t, std::size_t, std::size_t>;
  std::priority_queue<load, std::vector<load>, std::greater<>> lightest;
  for (std::size_t at = 0; at < parts; ++at)
    lightest.emplace(made.parts[at].cost, 0, at);
  for (const costly& item : internal::heaviest_first(costs, fixed)) {
    const std::size_t at = std::get<2>(lightest.top());
    lightest.pop();
    part& chosen = made.parts[at];
    chosen.cost += item.cost;
    chosen.items.push_back(item);
    made.part_of[item.index] = at;
    if (chosen.items.size() < most)
      lightest.emplace(chosen.cost, chosen.items.size(), at);
  }
  return made;
}

struct exchange {
  std::size_t of_heavy = 0;
  std::size_t of_light = 0;
};

// The exchange that takes closest to half of the gap from the heavy part; none if all leave a gap as wide.
std::optional<exchange> best_exchange(const std::vector<costly>& heavy, const std::vector<costly>& light,
                                      std::uint64_t gap) {
  std::optional<exchange> best;
  std::uint64_t best_miss = gap;
  const auto consider = [&](std::size_t from, std::size_t to) {
    if (heavy[from].cost <= light[to].cost || heavy[from].cost - light[to].cost >= gap)
      return;
    const std::uint64_t taken = heavy[from].cost - light[to].cost;
    const std::uint64_t miss = taken > gap / 2 ? taken - gap / 2 : gap / 2 - taken;
    if (miss < best_miss) {
      best_miss = miss;
      best = {from, to};
    }
  };
  std::size_t to = 0;  // the first that takes half of the gap or more
  for (std::size_t from = 0; from < heavy.size(); ++from) {
    while (to < light.size() && light[to].cost + gap / 2 > heavy[from].cost)
      ++to;
    if (to < light.size())
      consider(from, to);
    if (to > 0)
      consider(from, to - 1);
  }
  return best;
}

void replace(std::vector<costly>& items, std::size_t at, const costly& by) {
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
  items.insert(std::upper_bound(items.begin(), items.end(), by,
                                [](const costly& a, const costly& b) { return a.cost > b.cost; }),
               by);
}

// Counts stay as they are.
void even_out(placement& made) {
  std::set<std::pair<std::uint64_t, std::size_t>> by_cost;
  for (std::size_t at = 0; at < made.parts.size(); ++at)
    by_cost.emplace(made.parts[at].cost, at);
  // About one exchange for each part is what it takes; the limit keeps the time linear in the items.
  for (std::size_t left = 32 * made.parts.size(); left > 0; --left) {
    const std::size_t lightest = by_cost.begin()->second;
    const std::size_t heaviest = std::prev(by_cost.end())->second;
    part& light = made.parts[lightest];
    part& heavy = made.parts[heaviest];
    const auto found = best_exchange(heavy.items, light.items, heavy.cost - light.cost);
    if (!found)
      return;
    by_cost.erase(by_cost.begin());
    by_cost.erase(std::prev(by_cost.end()));
    const costly down = heavy.items[found->of_heavy];
    const costly up = light.items[found->of_light];
    replace(heavy.items, found->of_heavy, up);
    replace(light.items, found->of_light, down);
    heavy.cost -= down.cost - up.cost;
    light.cost += down.cost - up.cost;
    made.part_of[down.index] = lightest;
    made.part_of[up.index] = heaviest;
    by_cost.emplace(light.cost, lightest);
    by_cost.emplace(heavy.cost, heaviest);
  }
}

std::vector<std::size_t> parts_of(std::span<const std::uint64_t> costs, std::size_t parts, bool equal_counts) {
  placement made = place(costs, parts, equal_counts);
  even_out(made);
  return std::move(made.part_of);
}

}  // namespace

split balance(std::span<const std::uint64_t> costs, std::size_t parts, const balance_options& how) {
  internal::check_sum(costs, "balance");
  if (how.groups.empty()) {
    check(costs.size(), "rows", parts, how.allow_empty);
    return internal::split_by(costs, parts_of(costs, parts, how.equal_counts), parts);
  }
  if (how.groups.size() != costs.size())
    throw error("balance: " + std::to_string(costs.size()) + " rows have costs, but " +
                std::to_string(how.groups.size()) + " have a group; give one for each row, or none");
  std::vector<std::size_t> part_of = groups_of_rows(how.groups);
  std::vector<std::uint64_t> group_costs(1 + *std::max_element(part_of.begin(), part_of.end()), 0);
  for (std::size_t row = 0; row < costs.size(); ++row)
    group_costs[part_of[row]] += costs[row];
  check(group_costs.size(), "groups", parts, how.allow_empty);
  const std::vector<std::size_t> part_of_group = parts_of(group_costs, parts, how.equal_counts);
  for (std::size_t& group : part_of)
    group = part_of_group[group];
  return internal::split_by(costs, part_of, parts);
}

}  // namespace twinkle
