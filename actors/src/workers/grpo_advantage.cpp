// SPDX-License-Identifier: Apache-2.0
#include "twinkle/workers/grpo_advantage.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "twinkle/base/error.hpp"
#include "twinkle/workers/columns.hpp"

namespace twinkle {
namespace {

constexpr double std_least = 1e-4;  // added, so that nearly equal rewards do not blow up

identity parent_or_error(const row_tag& tag) {
  if (tag.id.depth == 0)
    throw error("row " + to_string(tag.id) +
                " has no parent, so it is no sample of a prompt; put an endpoint that expands rows and "
                "group_by(parent) before grpo_advantage");
  return parent_of(tag.id);
}

// Rows [first, end) that are samples of one prompt, without the padding between them.
std::vector<std::vector<std::size_t>> groups_of(std::span<const row_tag> tags) {
  std::vector<std::vector<std::size_t>> groups;
  std::set<identity> seen;
  identity last;
  for (std::size_t row = 0; row < tags.size(); ++row) {
    const identity parent = parent_or_error(tags[row]);
    if (tags[row].padding)
      continue;
    if (groups.empty() || parent != last) {
      if (!seen.insert(parent).second)
        throw error("row " + to_string(tags[row].id) + " stands apart from other samples of row " + to_string(parent) +
                    "; put group_by(parent) before grpo_advantage");
      groups.emplace_back();
      last = parent;
    }
    groups.back().push_back(row);
  }
  return groups;
}

void advance(std::span<const std::size_t> group, std::span<const float> rewards, std::span<float> advantages) {
  const auto count = static_cast<double>(group.size());
  double mean = 0;
  for (const std::size_t row : group)
    mean += rewards[row] / count;
  double variance = 0;
  for (const std::size_t row : group)
    variance += (rewards[row] - mean) * (rewards[row] - mean) / count;
  const auto same = [&](std::size_t row) { return rewards[row] == rewards[group.front()]; };
  if (std::all_of(group.begin(), group.end(), same))
    return;  // exactly 0, whatever the mean was rounded to
  for (const std::size_t row : group)
    advantages[row] = static_cast<float>((rewards[row] - mean) / (std::sqrt(variance) + std_least));
}

}  // namespace

batch grpo_advantage::with_advantages(const batch& scored) {
  const dense_view<float> rewards = scored[columns::reward];
  const std::span<const row_tag> tags = scored.tags();
  for (std::size_t row = 0; row < tags.size(); ++row)
    if (!std::isfinite(rewards[row]))
      throw error("row " + to_string(tags[row].id) + " has the reward " + std::to_string(rewards[row]) +
                  "; rewards must be finite: drop what could not be judged");
  std::vector<float> advantages(scored.rows(), 0.0F);
  for (const std::vector<std::size_t>& group : groups_of(tags))
    advance(group, rewards.values(), advantages);
  return scored.with(columns::advantage, std::move(advantages));
}

}  // namespace twinkle
