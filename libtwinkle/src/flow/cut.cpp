// SPDX-License-Identifier: Apache-2.0
// Which worker gets which rows of a call.
#include "cut.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "twinkle/base/error.hpp"
#include "twinkle/flow/padding_plan.hpp"
#include "twinkle/flow/split.hpp"

namespace twinkle::route {
namespace {

using rows_list = std::shared_ptr<const std::vector<std::size_t>>;

fault refusal(const team& workers, const call& wanted, std::string cause) {
  return {workers.stage, wanted.endpoint, std::nullopt, std::move(cause)};
}

bool same_rows(const batch& a, const batch& b) {
  return std::equal(a.tags().begin(), a.tags().end(), b.tags().begin(), b.tags().end(),
                    [](const row_tag& left, const row_tag& right) { return left.id == right.id; });
}

bool sliced(dispatch kind) {
  return kind == dispatch::slice_dp || kind == dispatch::slice || kind == dispatch::balanced ||
         kind == dispatch::function;
}

std::vector<bool> replicas_of_ranks(const team& workers) {
  std::vector<bool> replica(workers.workers(), true);
  for (const std::size_t each : workers.representatives)
    replica[each] = false;
  return replica;
}

// Of a batch that all get, the first worker's result counts; of anything else, one for each data rank.
std::vector<returned> whole(const team& workers, const call& wanted) {
  const batch* rows = rows_in(wanted.input);
  const std::size_t count = wanted.how.kind == dispatch::first ? 1 : workers.workers();
  const std::vector<bool> replica = replicas_of_ranks(workers);
  std::vector<returned> parts;
  parts.reserve(count);
  for (std::size_t worker = 0; worker < count; ++worker) {
    returned part{worker, {0, rows == nullptr ? 0 : rows->rows()}, wanted.input};
    part.replica = count > 1 && (rows == nullptr ? replica[worker] : worker > 0);
    parts.push_back(std::move(part));
  }
  return parts;
}

// Copies in turn behind the rows, one for each part that would be without.
batch padded(const batch& rows, std::size_t parts) {
  const padding_plan plan = plan_padding(rows.rows(), parts);
  batch filled = rows.take(plan.rows);
  if (!filled.identified())
    return filled;
  std::vector<row_tag> tags(filled.tags().begin(), filled.tags().end());
  for (std::size_t at = plan.real; at < tags.size(); ++at)
    tags[at].padding = true;
  return filled.with_tags(std::move(tags));
}

std::vector<returned> slices(const team& workers, const batch& rows, bool by_rank) {
  const std::size_t parts = by_rank ? workers.data_ranks() : workers.workers();
  const std::vector<bool> replica = by_rank ? replicas_of_ranks(workers) : std::vector<bool>(workers.workers(), false);
  std::vector<returned> made;
  made.reserve(workers.workers());
  for (std::size_t worker = 0; worker < workers.workers(); ++worker) {
    const interval slice = even_part(rows.rows(), parts, by_rank ? workers.data_rank[worker] : worker);
    returned part{worker, slice, rows[slice]};
    part.replica = replica[worker];
    made.push_back(std::move(part));
  }
  return made;
}

returned picked_part(std::size_t worker, const batch& rows, rows_list picked, bool replica) {
  interval span{rows.rows(), rows.rows()};
  if (!picked->empty()) {
    const auto [first, last] = std::minmax_element(picked->begin(), picked->end());
    span = {*first, *last + 1};
  }
  returned part{worker, span, rows.take(*picked)};
  part.replica = replica;
  part.picked = std::move(picked);
  return part;
}

// A group is named by its first row. Rows that come from a source, and copies, are groups of their own.
std::vector<std::uint64_t> groups_in(const batch& rows) {
  if (!rows.identified())
    throw error("rows of one group are to stay together, but the rows have no identities");
  std::map<identity, std::uint64_t> first;
  std::vector<std::uint64_t> keys;
  for (const row_tag& tag : rows.tags()) {
    const std::uint64_t row = keys.size();
    keys.push_back(tag.id.depth == 0 || tag.padding ? row : first.try_emplace(parent_of(tag.id), row).first->second);
  }
  return keys;
}

std::vector<std::uint64_t> costs_in(const batch& rows, const row_costs& costs) {
  std::vector<std::uint64_t> found = costs.of ? costs.of(rows.description()) : std::vector<std::uint64_t>(rows.rows(), 1);
  if (found.size() != rows.rows())
    throw error("there are " + std::to_string(found.size()) + " costs for " + std::to_string(rows.rows()) + " rows");
  return found;
}

std::vector<returned> balanced_parts(const team& workers, const call& wanted, const batch& rows) {
  const dispatch_rule::details how = wanted.how.how ? *wanted.how.how : dispatch_rule::details{};
  const std::vector<std::uint64_t> groups = how.whole_groups && !rows.empty() ? groups_in(rows) : std::vector<std::uint64_t>{};
  split found = balance(costs_in(rows, how.costs), workers.data_ranks(),
                        {how.equal_counts, wanted.fewer == small::allow_empty, groups});
  std::vector<rows_list> lists;
  for (std::vector<std::size_t>& part : found.parts)
    lists.push_back(std::make_shared<const std::vector<std::size_t>>(std::move(part)));
  const std::vector<bool> replica = replicas_of_ranks(workers);
  std::vector<returned> made;
  for (std::size_t worker = 0; worker < workers.workers(); ++worker)
    made.push_back(picked_part(worker, rows, lists[workers.data_rank[worker]], replica[worker]));
  return made;
}

std::vector<returned> parts_by_function(const team& workers, const call& wanted, const batch& rows) {
  if (wanted.how.how == nullptr || !wanted.how.how->rows)
    throw error("dispatch function is given without a function; use rows_by(function)");
  std::vector<std::vector<std::size_t>> lists = wanted.how.how->rows(rows.description(), workers);
  if (lists.size() != workers.workers())
    throw error("the dispatch function names rows for " + std::to_string(lists.size()) + " workers; there are " +
                std::to_string(workers.workers()));
  std::vector<bool> given(rows.rows(), false);
  for (std::size_t worker = 0; worker < lists.size(); ++worker) {
    std::vector<bool> here(rows.rows(), false);
    for (const std::size_t row : lists[worker]) {
      if (row >= rows.rows() || here[row])
        throw error("the dispatch function gives " + workers.places[worker] + " row " + std::to_string(row) +
                    (row < rows.rows() ? " twice" : ", and there are " + std::to_string(rows.rows())));
      here[row] = given[row] = true;
    }
  }
  if (const auto lost = std::find(given.begin(), given.end(), false); lost != given.end())
    throw error("the dispatch function gives row " + std::to_string(lost - given.begin()) +
                " to no worker; drop rows with a filter");
  std::vector<returned> made;
  for (std::size_t worker = 0; worker < lists.size(); ++worker) {
    const auto twin = std::find_if(made.begin(), made.end(), [&](const returned& each) {
      return workers.data_rank[each.worker] == workers.data_rank[worker] && *each.picked == lists[worker];
    });
    const bool replica = twin != made.end();
    made.push_back(picked_part(worker, rows, std::make_shared<const std::vector<std::size_t>>(std::move(lists[worker])),
                               replica));
  }
  return made;
}

// One plan for all, so that their numbers agree; the ranks of one data rank have the same micro-batches.
void plan_micro(const team& workers, const micro_batch_rule& rule, std::vector<returned>& parts) {
  std::vector<std::vector<std::uint64_t>> costs(workers.data_ranks());
  for (const returned& part : parts)
    costs[workers.data_rank[part.worker]] = costs_in(*rows_in(part.given), rule.costs);
  micro_batch_plan plan =
      plan_micro_batches(costs, {rule.cap, rule.at_least, workers.virtual_stages, rule.allow_dummies});
  std::vector<std::shared_ptr<const std::vector<micro_batch>>> lists;
  for (std::vector<micro_batch>& each : plan.ranks)
    lists.push_back(std::make_shared<const std::vector<micro_batch>>(std::move(each)));
  for (returned& part : parts)
    part.micro_batches = lists[workers.data_rank[part.worker]];
}

// What must be there for every part to have one: rows, or groups of them that stay together.
std::size_t units_in(const batch& rows, const call& wanted, dispatch kind) {
  if (kind != dispatch::balanced || !wanted.how.how || !wanted.how.how->whole_groups || rows.empty())
    return rows.rows();
  std::vector<std::uint64_t> groups = groups_in(rows);
  std::sort(groups.begin(), groups.end());
  return static_cast<std::size_t>(std::unique(groups.begin(), groups.end()) - groups.begin());
}

// The other batches are cut as the first was.
void cut_others(const arguments& whole, std::size_t pad_to, std::vector<returned>& parts) {
  for (returned& part : parts)
    part.given = arguments{{std::get<batch>(std::move(part.given))}, whole.others};
  for (std::size_t at = 1; at < whole.batches.size(); ++at) {
    const batch rows = pad_to > 0 ? padded(whole.batches[at], pad_to) : whole.batches[at];
    for (returned& part : parts)
      std::get<arguments>(part.given).batches.push_back(part.picked ? rows.take(*part.picked) : rows[part.rows]);
  }
}

// The first two batches that are not alike.
std::optional<std::string> find_uneven(const payload& input) {
  const auto* several = std::get_if<arguments>(&input);
  if (several == nullptr)
    return std::nullopt;
  for (const batch& each : several->batches)
    if (each.rows() != several->batches.front().rows())
      return "its batches have " + std::to_string(several->batches.front().rows()) + " and " +
             std::to_string(each.rows()) + " rows; batches of one call must have the same rows";
  for (const batch& each : several->batches)
    if (each.identified() && several->batches.front().identified() && !same_rows(each, several->batches.front()))
      return "its batches have the rows of different identities; batches of one call must have the same rows";
  return std::nullopt;
}

result<std::vector<returned>> cut_rows(const team& workers, const call& wanted, dispatch kind) {
  const bool by_worker = kind == dispatch::slice;
  const std::size_t needed = by_worker ? workers.workers() : workers.data_ranks();
  const std::string who = by_worker ? " workers" : " data ranks";
  batch rows = *rows_in(wanted.input);
  const std::size_t real = rows.rows();
  const std::size_t units = units_in(rows, wanted, kind);
  if (units < needed && kind != dispatch::function) {
    if (wanted.fewer == small::pad && real > 0)
      rows = padded(rows, real + needed - units);
    else if (wanted.fewer != small::allow_empty)
      return fault{workers.stage, wanted.endpoint, interval{0, real},
                   (units < real ? "the " + std::to_string(units) + " groups of " + std::to_string(real) + " rows"
                                 : std::to_string(real) + " rows") +
                       " are fewer than the " + std::to_string(needed) + who +
                       " of device group '" + workers.group +
                       "'; send more rows, or allow it with .small = small::pad or small::allow_empty"};
  }
  std::vector<returned> parts = kind == dispatch::balanced   ? balanced_parts(workers, wanted, rows)
                                : kind == dispatch::function ? parts_by_function(workers, wanted, rows)
                                                             : slices(workers, rows, !by_worker);
  if (const auto* several = std::get_if<arguments>(&wanted.input))
    cut_others(*several, rows.rows() > real ? rows.rows() : 0, parts);
  // A padded batch has one row, or group, for each part.
  for (returned& part : parts)
    part.padding = part.rows.first >= real && !part.rows.empty();
  if (wanted.micro_batches)
    plan_micro(workers, *wanted.micro_batches, parts);
  return parts;
}

}  // namespace

result<std::vector<returned>> cut(const team& workers, const call& wanted) {
  const bool rows = rows_in(wanted.input) != nullptr;
  if (auto uneven = find_uneven(wanted.input))
    return refusal(workers, wanted, std::move(*uneven));
  dispatch kind = wanted.how.kind;
  if (kind == dispatch::by_type)
    kind = rows ? dispatch::slice_dp : dispatch::all;
  if (wanted.micro_batches && kind != dispatch::slice_dp && kind != dispatch::balanced)
    return refusal(workers, wanted, "micro-batches are planned for each data rank; use dispatch slice_dp or balanced");
  if (!sliced(kind))
    return whole(workers, wanted);
  if (!rows)
    return refusal(workers, wanted, "it is to be cut by its dispatch, which needs a batch");
  try {
    return cut_rows(workers, wanted, kind);
  } catch (const std::exception& wrong) {  // a user's function may throw anything
    return refusal(workers, wanted, wrong.what());
  } catch (...) {
    return refusal(workers, wanted, "a function of its dispatch threw something that is no std::exception");
  }
}

}  // namespace twinkle::route
