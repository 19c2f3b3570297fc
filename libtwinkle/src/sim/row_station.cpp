// SPDX-License-Identifier: Apache-2.0
#include "row_station.hpp"

namespace twinkle::sim {

bool row_station::arrive(const identity& id, std::size_t side, bool dead, std::uint64_t now) {
  const auto [at, added] = rows_.try_emplace(id);
  seen& of = at->second;
  const auto bit = static_cast<std::uint8_t>(1U << side);
  const bool first = (of.sides & bit) == 0;
  of.sides = static_cast<std::uint8_t>(of.sides | bit);
  of.dead = of.dead || dead;
  of.when = now;
  return first;
}

row_station::seen* row_station::find(const identity& id) {
  const auto found = rows_.find(id);
  return found == rows_.end() ? nullptr : &found->second;
}

row_station::seen* row_station::owner(const identity& id) {
  for (identity at = id;; at = parent_of(at)) {
    if (seen* found = find(at))
      return found;
    if (at.depth == 0)
      return nullptr;
  }
}

// From child to parent, as far as each was the last of its siblings, up to the row that was here.
row_station::closed row_station::close(const identity& id) {
  const auto itself = rows_.find(id);
  if (itself != rows_.end()) {
    const bool was_dead = itself->second.dead;
    rows_.erase(itself);
    return {true, true, was_dead};
  }
  const seen* top = owner(id);
  if (top == nullptr)
    return {};
  identity at = id;
  while (true) {
    const std::uint32_t count = at.path[at.depth - 1].count;
    at = parent_of(at);
    const auto here = rows_.find(at);
    const bool arrived = here != rows_.end();
    std::uint32_t& left = arrived ? here->second.left : between_.try_emplace(at, 0).first->second;
    left = (left == 0 ? count : left) - 1;
    const closed done{true, arrived && left == 0, top->dead};
    if (left > 0)
      return done;
    if (!arrived) {
      between_.erase(at);
      continue;
    }
    rows_.erase(here);
    return done;
  }
}

}  // namespace twinkle::sim
