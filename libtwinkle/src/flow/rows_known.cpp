// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/rows_known.hpp"

#include <algorithm>

namespace twinkle {

// Streams cannot make a cycle, but a wrong blueprint could; so every walk upstream counts its steps.

const blueprint::edge* rows_known::into(blueprint::port at) const {
  for (const blueprint::edge& each : plan_.edges)
    if (each.to == at)
      return &each;
  return nullptr;
}

std::optional<std::size_t> rows_known::made_by(blueprint::port from, bool full, std::size_t depth) const {
  const blueprint::stage& stage = plan_.stages[from.stage];
  if (stage.endpoints[from.endpoint].kind == blueprint::role::source) {
    // A source that says nothing of its smallest batch is taken to fill all of them.
    const std::size_t rows = full || stage.emits.least == 0 ? stage.emits.rows : stage.emits.least;
    return rows > 0 ? std::optional(rows) : std::nullopt;
  }
  const blueprint::edge* in = into(from);
  if (in == nullptr || depth > plan_.edges.size())
    return std::nullopt;
  const auto rows = batch_of(*in, full, depth + 1);
  return rows ? std::optional(*rows * in->expands.value_or(1)) : std::nullopt;
}

std::optional<std::size_t> rows_known::batch_of(const blueprint::edge& on, bool full, std::size_t depth) const {
  std::optional<std::size_t> rows = made_by(on.from, full, depth);
  for (const blueprint::regroup& each : on.regroups)
    if (each.how == blueprint::regroup::kind::rebatch) {
      const std::size_t group = group_size(on);
      const std::size_t whole = std::max(each.rows / group * group, group);
      rows = full || endless(on.from, 0) ? whole : group;
    }
  return rows;
}

bool rows_known::endless(blueprint::port from, std::size_t depth) const {
  const blueprint::stage& stage = plan_.stages[from.stage];
  if (stage.endpoints[from.endpoint].kind == blueprint::role::source)
    return stage.emits.endless;
  const blueprint::edge* in = into(from);
  return in != nullptr && depth <= plan_.edges.size() && endless(in->from, depth + 1);
}

std::optional<std::size_t> rows_known::produced(const blueprint::edge& on) const { return made_by(on.from, true, 0); }
std::optional<std::size_t> rows_known::arriving(const blueprint::edge& on) const { return batch_of(on, true, 0); }
std::optional<std::size_t> rows_known::fewest(const blueprint::edge& on) const { return batch_of(on, false, 0); }

std::size_t rows_known::group_size(const blueprint::edge& on) const {
  if (!on.grouped)
    return 1;
  const blueprint::edge* at = into(on.from);
  for (std::size_t depth = 0; at != nullptr && depth <= plan_.edges.size(); ++depth) {
    if (at->expands.value_or(1) > 1)
      return *at->expands;
    at = into(at->from);
  }
  return 1;
}

std::size_t rows_known::need(const blueprint::edge& on) const {
  std::size_t rows = 0;
  for (const blueprint::regroup& each : on.regroups)
    if (each.how != blueprint::regroup::kind::filter)
      rows += each.how == blueprint::regroup::kind::rebatch ? each.rows : group_size(on);
  return rows;
}

bool rows_known::comes_from(const blueprint::edge& edge, blueprint::port port) const {
  const blueprint::edge* at = &edge;
  for (std::size_t depth = 0; at != nullptr && depth <= plan_.edges.size(); ++depth) {
    if (at->from == port)
      return true;
    at = into(at->from);
  }
  return false;
}

std::vector<std::size_t> rows_known::branch(const blueprint::edge& one, const blueprint::edge& other) const {
  std::vector<std::size_t> edges;
  const blueprint::edge* at = &one;
  for (std::size_t depth = 0; depth <= plan_.edges.size() && !comes_from(other, at->from); ++depth) {
    at = into(at->from);
    if (at == nullptr)
      break;
    edges.push_back(static_cast<std::size_t>(at - plan_.edges.data()));
  }
  return edges;
}

std::optional<std::size_t> rows_known::on_branch(const blueprint::edge& one, const blueprint::edge& other) const {
  std::size_t rows = 0;
  const blueprint::edge* at = &one;
  for (std::size_t depth = 0; at != nullptr && depth <= plan_.edges.size(); ++depth) {
    const auto made = produced(*at);
    if (!made)
      return std::nullopt;
    rows += need(*at) + 2 * *made;
    if (comes_from(other, at->from))
      return rows;
    at = into(at->from);
    if (at != nullptr && at->expands.value_or(1) != 1)
      return std::nullopt;
  }
  return std::nullopt;
}

bool rows_known::upstream(std::size_t stage, const blueprint::edge& of) const {
  const blueprint::edge* at = &of;
  for (std::size_t depth = 0; at != nullptr && depth <= plan_.edges.size(); ++depth) {
    if (at->from.stage == stage)
      return true;
    at = into(at->from);
  }
  return false;
}

std::optional<std::size_t> rows_known::rows_per_step(const blueprint::edge& on, std::size_t stage) const {
  const auto rows = arriving(on);
  if (!rows)
    return std::nullopt;
  std::size_t expansion = 1;
  const blueprint::edge* at = &on;
  for (std::size_t depth = 0; depth <= plan_.edges.size(); ++depth) {
    const bool there = at->from.stage == stage;
    at = into(at->from);
    if (at == nullptr)
      return std::nullopt;
    expansion *= std::max<std::size_t>(at->expands.value_or(1), 1);
    if (there)
      return *rows % expansion == 0 && *rows >= expansion ? std::optional(*rows / expansion) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace twinkle
