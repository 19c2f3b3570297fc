// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/regroup.hpp"

#include <algorithm>
#include <optional>

#include "twinkle/base/error.hpp"

namespace twinkle {
namespace {

// The rows and tombstones of one parent that stand together in a batch; without a parent, a row by itself.
struct siblings {
  std::optional<identity> parent;
  std::size_t expected = 1;
  std::size_t present = 0;
  batch rows;
};

std::optional<identity> parent_at(const identity& id) {
  return id.depth > 0 ? std::optional(parent_of(id)) : std::nullopt;
}

std::size_t siblings_of(const identity& id) { return id.depth > 0 ? id.path[id.depth - 1].count : 1; }

std::vector<siblings> runs_of(const batch& rows) {
  const batch real = rows.without_tombstones();
  const auto tags = real.tags();
  std::vector<siblings> runs;
  for (std::size_t first = 0; first < tags.size();) {
    const auto parent = parent_at(tags[first].id);
    std::size_t end = first + 1;
    while (parent && end < tags.size() && parent_at(tags[end].id) == parent)
      ++end;
    runs.push_back({parent, siblings_of(tags[first].id), end - first, real[interval{first, end}]});
    first = end;
  }
  return runs;
}

// A tombstone joins the run of its parent; one that lies above the rows is a closed group of its own.
void add_tombstones(const batch& rows, std::vector<siblings>& runs) {
  const std::uint32_t depth = rows.empty() ? 0 : rows.tags().front().id.depth;
  for (tombstone& lost : rows.tombstones()) {
    const bool above = !rows.empty() && lost.tag.id.depth < depth;
    const auto parent = above ? std::nullopt : parent_at(lost.tag.id);
    const std::size_t expected = above ? 1 : siblings_of(lost.tag.id);
    auto run = parent ? std::find_if(runs.begin(), runs.end(), [&](const siblings& s) { return s.parent == parent; })
                      : runs.end();
    if (run == runs.end())
      run = runs.insert(runs.end(), {parent, expected, 0, batch{}});
    ++run->present;
    run->rows = run->rows.with_tombstone(std::move(lost));
  }
}

std::vector<siblings> groups_of(const batch& rows) {
  std::vector<siblings> runs;
  if (rows.empty() && rows.tombstone_count() == 0)
    return runs;
  if (!rows.empty())
    runs = runs_of(rows);
  add_tombstones(rows, runs);
  return runs;
}

}  // namespace

std::vector<batch> group_by_parent::add(const batch& rows) {
  for (siblings& run : groups_of(rows)) {
    held_ += run.present;
    auto group = open_.end();
    if (run.parent)
      group = std::find_if(open_.begin(), open_.end(), [&](const auto& each) { return each.parent == run.parent; });
    if (group == open_.end())
      group = open_.insert(open_.end(), {run.parent, run.expected, 0, {}});
    group->present += run.present;
    group->parts.push_back(std::move(run.rows));
    if (group->present > group->expected)
      throw error("group_by: the group of row " + to_string(*group->parent) + " has " +
                  std::to_string(group->present) + " members, but was closed with " + std::to_string(group->expected));
  }
  return release(false);
}

std::vector<batch> group_by_parent::end() { return release(true); }

std::vector<batch> group_by_parent::release(bool all) {
  std::vector<batch> parts;
  for (auto group = open_.begin(); group != open_.end();) {
    if (!all && group->present != group->expected) {
      if (!any_order_)
        break;
      ++group;
      continue;
    }
    held_ -= group->present;
    for (batch& part : group->parts)
      parts.push_back(std::move(part));
    group = open_.erase(group);
  }
  if (parts.empty())
    return {};
  return {batch::concat(parts)};
}

std::vector<batch> filter_rows::add(const batch& rows) {
  if (rows.empty())
    return {rows};
  const std::vector<bool> kept = keeps_(rows.description());
  if (kept.size() != rows.rows())
    throw error("filter: the function says of " + std::to_string(kept.size()) + " rows whether they are kept; there are " +
                std::to_string(rows.rows()));
  std::vector<std::size_t> dropped;
  for (std::size_t row = 0; row < kept.size(); ++row)
    if (!kept[row])
      dropped.push_back(row);
  return {rows.drop(dropped, reason_)};
}

std::vector<batch> rebatch::add(const batch& rows) {
  std::vector<batch> ready;
  if (whole_groups_) {
    for (siblings& group : groups_of(rows)) {
      const std::size_t real = group.rows.rows();
      take(std::move(group.rows), group.present, refill_ ? real : group.present, ready);
    }
  } else if (rows.tombstone_count() == 0) {
    for (std::size_t first = 0; first < rows.rows();) {
      const std::size_t end = std::min(rows.rows(), first + rows_ - filled_);
      take(rows[interval{first, end}], end - first, end - first, ready);
      first = end;
    }
  } else {
    for (std::size_t row = 0; row < std::max<std::size_t>(rows.rows(), 1); ++row) {
      const batch unit = rows.empty() ? rows : rows[interval{row, row + 1}];
      if (!unit.empty())
        take(unit.without_tombstones(), 1, 1, ready);
      for (tombstone& lost : unit.tombstones())
        take(batch{}.with_tombstone(std::move(lost)), 1, refill_ ? 0 : 1, ready);
    }
  }
  return ready;
}

void rebatch::take(batch unit, std::size_t count, std::size_t fills, std::vector<batch>& ready) {
  if (whole_groups_ && fills > rows_)
    throw error("rebatch: a group of " + std::to_string(fills) + " rows does not fit a batch of " +
                std::to_string(rows_) + "; rebatch to at least the size of a group");
  if (filled_ > 0 && filled_ + fills > rows_)
    flush(ready);
  parts_.push_back(std::move(unit));
  held_ += count;
  filled_ += fills;
  if (filled_ >= rows_)
    flush(ready);
}

void rebatch::flush(std::vector<batch>& ready) {
  ready.push_back(batch::concat(parts_));
  parts_.clear();
  held_ = 0;
  filled_ = 0;
}

std::vector<batch> rebatch::end() {
  std::vector<batch> ready;
  if (held_ > 0)
    flush(ready);
  return ready;
}

}  // namespace twinkle
