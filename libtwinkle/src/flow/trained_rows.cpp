// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/trained_rows.hpp"

#include <algorithm>
#include <iterator>

#include "twinkle/base/ensure.hpp"

namespace twinkle {
namespace {

// The first run that ends behind the sequence.
auto run_behind(const std::vector<trained_rows::run>& runs, std::uint64_t sequence) {
  return std::upper_bound(runs.begin(), runs.end(), sequence,
                          [](std::uint64_t at, const trained_rows::run& each) { return at < each.end; });
}

}  // namespace

void trained_rows::add(const identity& row) {
  identity id = row;
  while (id.depth > 0) {
    const identity parent = parent_of(id);
    const child which = id.path[id.depth - 1];
    std::set<child>& siblings = parts_[parent];
    siblings.insert(which);
    if (siblings.size() < which.count)
      return;
    parts_.erase(parent);
    id = parent;
  }
  close(id.source, id.sequence);
}

void trained_rows::add_run(std::uint32_t source, const run& rows) {
  std::vector<run>& runs = whole_[source];
  ensure(rows.first < rows.end && (runs.empty() || runs.back().end <= rows.first), "a run of rows is behind the others");
  if (!runs.empty() && runs.back().end == rows.first)
    runs.back().end = rows.end;
  else
    runs.push_back(rows);
}

void trained_rows::close(std::uint32_t source, std::uint64_t sequence) {
  std::vector<run>& runs = whole_[source];
  const auto next = runs.begin() + std::distance(runs.cbegin(), run_behind(runs, sequence));
  if (next != runs.end() && next->first <= sequence)
    return;
  const bool joins_last = next != runs.begin() && std::prev(next)->end == sequence;
  const bool joins_next = next != runs.end() && next->first == sequence + 1;
  if (joins_last && joins_next) {
    std::prev(next)->end = next->end;
    runs.erase(next);
  } else if (joins_last) {
    std::prev(next)->end = sequence + 1;
  } else if (joins_next) {
    next->first = sequence;
  } else {
    runs.insert(next, {sequence, sequence + 1});
  }
}

bool trained_rows::closed(std::uint32_t source, std::uint64_t sequence) const {
  const auto found = whole_.find(source);
  if (found == whole_.end())
    return false;
  const auto next = run_behind(found->second, sequence);
  return next != found->second.end() && next->first <= sequence;
}

bool trained_rows::contains(const identity& row) const {
  if (closed(row.source, row.sequence))
    return true;
  for (identity id = row; id.depth > 0; id = parent_of(id))
    if (const auto siblings = parts_.find(parent_of(id));
        siblings != parts_.end() && siblings->second.contains(id.path[id.depth - 1]))
      return true;
  return false;
}

std::uint64_t trained_rows::first_open(std::uint32_t source, std::uint64_t from) const {
  const auto found = whole_.find(source);
  if (found == whole_.end())
    return from;
  const auto next = run_behind(found->second, from);
  return next != found->second.end() && next->first <= from ? next->end : from;
}

std::vector<identity> trained_rows::in_part() const {
  std::vector<identity> rows;
  for (const auto& [parent, siblings] : parts_)
    for (const child& each : siblings)
      rows.push_back(child_of(parent, each.index, each.count));
  return rows;
}

}  // namespace twinkle
