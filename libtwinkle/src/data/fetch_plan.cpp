// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/fetch_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "table.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/base/list.hpp"

namespace twinkle {

using data::chunk;
using data::column_store;
using data::slot;
using data::table;

namespace {

slot slot_of(const slot& like, std::vector<chunk> chunks) {
  return {std::make_shared<const column_store>(like.store->name(), like.store->type(), std::move(chunks)), 0,
          like.withheld};
}

std::span<const named_tensor> same_name(std::span<const named_tensor> from) {
  const auto end = std::find_if(from.begin(), from.end(),
                                [&](const named_tensor& each) { return each.name != from[0].name; });
  return {from.begin(), end};
}

std::vector<std::size_t> whole_shape(const tensor& of) {
  std::vector<std::size_t> shape = of.shape;
  if (of.part)
    shape[of.part->dimension] = of.part->whole;
  return shape;
}

// Of replicas, which follow each other, one: that is here, or whose turn it is.
std::vector<tensor> without_replicas(std::span<const named_tensor> all, const fetch_plan::finder& find, std::size_t turn) {
  std::vector<tensor> chosen;
  for (std::size_t first = 0; first < all.size();) {
    std::size_t end = first + 1;
    while (end < all.size() && all[end].value.part == all[first].value.part)
      ++end;
    const tensor* taken = &all[first + turn % (end - first)].value;
    std::optional<buffer> here;
    for (std::size_t at = first; at < end && !here; ++at) {
      const buffer& values = all[at].value.values;
      here = values.far() == nullptr ? std::optional(values) : find(values);
      if (here)
        taken = &all[at].value;
    }
    chosen.push_back(*taken);
    if (here)
      chosen.back().values = *std::move(here);
    first = end;
  }
  return chosen;
}

void check_wanted(const std::string& name, const std::vector<std::size_t>& shape, const shard& wanted) {
  if (wanted.dimension >= shape.size() || wanted.whole != shape[wanted.dimension] ||
      wanted.held.first > wanted.held.end || wanted.held.end > wanted.whole)
    throw error("weights: " + to_string(wanted.held) + " of " + std::to_string(wanted.whole) + " along dimension " +
                std::to_string(wanted.dimension) + " is wanted of tensor '" + name + "', whose shape is [" +
                list_of_numbers(shape) + "]");
}

bool any_far(const std::vector<chunk>& chunks) {
  return std::any_of(chunks.begin(), chunks.end(), [](const chunk& each) { return each.values.far() != nullptr; });
}

bool stays(const slot& column) { return !column.store->type().routed; }

}  // namespace

batch leave_behind(const batch& rows, const keeper& keep) {
  table from = data::table_access::view(rows);
  for (slot& column : from.columns) {
    if (!stays(column))
      continue;
    std::vector<chunk> chunks;
    for (const chunk& each : chunks_of(column, from.rows)) {
      chunks.push_back(alone(each, column.store->type()));
      buffer& values = chunks.back().values;
      if (values.far() == nullptr && values.bytes() > 0)
        values = keep(values);
    }
    column = slot_of(column, std::move(chunks));
  }
  return data::table_access::of(std::move(from));
}

weights leave_behind(const weights& tensors, const keeper& keep) {
  std::vector<named_tensor> left(tensors.tensors().begin(), tensors.tensors().end());
  for (named_tensor& each : left)
    if (each.value.values.far() == nullptr && each.value.values.bytes() > 0)
      each.value.values = keep(each.value.values);
  return weights{std::move(left), tensors.version()};
}

std::size_t bytes_to_leave(const batch& rows) {
  const table from = data::table_access::view(rows);
  std::size_t bytes = 0;
  for (const slot& column : from.columns)
    if (stays(column))
      for (const chunk& each : chunks_of(column, from.rows))
        if (each.values.far() == nullptr)
          bytes += alone(each, column.store->type()).values.bytes();
  return bytes;
}

std::size_t bytes_to_leave(const weights& tensors) {
  std::size_t bytes = 0;
  for (const named_tensor& each : tensors.tensors())
    if (each.value.values.far() == nullptr)
      bytes += each.value.values.bytes();
  return bytes;
}

// A tensor, or a part of one, whose values are several runs of bytes behind each other.
struct fetch_plan::region {
  tensor form;
  std::vector<buffer> runs;
};

fetch_plan::fetch_plan(batch rows, const finder& find, const blocks& shared) : rows_(std::move(rows)) {
  if (!is_far(rows_))
    return;
  table made = data::table_access::view(rows_);
  for (slot& column : made.columns) {
    std::vector<chunk> chunks = chunks_of(column, made.rows);
    if (!any_far(chunks))
      continue;
    for (chunk& each : chunks)
      if (each.values.far() != nullptr)
        if (auto here = find(each.values))
          each.values = *std::move(here);
    column = any_far(chunks) ? brought(column, chunks, shared) : slot_of(column, std::move(chunks));
  }
  rows_ = data::table_access::of(std::move(made));
}

fetch_plan::fetch_plan(const weights& tensors, const finder& find, const shard_rule& wanted, std::size_t turn,
                       const blocks& shared)
    : version_(tensors.version()) {
  const std::span<const named_tensor> all = tensors.tensors();
  if (!is_far(tensors) && !wanted) {
    tensors_.assign(all.begin(), all.end());
    return;
  }
  for (std::size_t at = 0; at < all.size();) {
    const std::span<const named_tensor> of = same_name(all.subspan(at));
    const std::vector<std::size_t> shape = whole_shape(of[0].value);
    const std::optional<shard> part = wanted ? wanted(of[0].name, shape) : std::nullopt;
    if (part) {
      check_wanted(of[0].name, shape, *part);
      parts_[of[0].name] = *part;
    }
    bring(of[0].name, without_replicas(of, find, turn), part, shared);
    at += of.size();
  }
}

// Whoever only knows of a block does not keep its bytes: it is no part of what it is counted by.
std::span<std::byte> fetch_plan::next_block(std::size_t bytes, const blocks& shared) {
  const std::size_t at = memory_.size();
  memory_.push_back(at < shared.size() ? shared[at] : std::shared_ptr<std::byte[]>(new std::byte[bytes]));
  return {memory_.back().get(), bytes};
}

void fetch_plan::fill(std::span<std::byte>& rest, const buffer& from) {
  const std::span<std::byte> into = rest.first(from.bytes());
  rest = rest.subspan(from.bytes());
  if (into.empty())
    return;
  (from.far() != nullptr ? pieces_ : near_).push_back({from, into});
}

void fetch_plan::copy_near() {
  for (const piece& each : std::exchange(near_, {}))
    std::memcpy(each.into.data(), each.from.data(), each.into.size());
}

const batch& fetch_plan::rows() {
  copy_near();
  return rows_;
}

slot fetch_plan::brought(const slot& column, const std::vector<chunk>& chunks, const blocks& shared) {
  const column_type& type = column.store->type();
  std::vector<chunk> own;
  std::size_t bytes = 0;
  std::size_t rows = 0;
  for (const chunk& each : chunks) {
    own.push_back(alone(each, type));
    bytes += own.back().values.bytes();
    rows += each.rows;
  }
  std::span<std::byte> rest = next_block(bytes, shared);
  const buffer values{rest.data(), bytes, memory_.back()};
  std::vector<std::uint64_t> offsets{0};
  for (const chunk& each : own) {
    fill(rest, each.values);
    const auto* from = each.offsets.as<std::uint64_t>();
    for (std::size_t row = 0; from != nullptr && row < each.rows; ++row)
      offsets.push_back(offsets.back() + from[row + 1] - from[row]);
  }
  const bool dense = type.kind == column_type::form::dense;
  return slot_of(column, {{values, dense ? buffer{} : buffer::of(std::move(offsets)), 0, rows}});
}

// The values of regions behind each other: as they are if they are one run that is here.
buffer fetch_plan::brought(std::span<const region> regions, const blocks& shared) {
  if (regions.size() == 1 && regions[0].runs.size() == 1 && regions[0].runs[0].far() == nullptr)
    return regions[0].runs[0];
  std::size_t bytes = 0;
  for (const region& each : regions)
    for (const buffer& run : each.runs)
      bytes += run.bytes();
  std::span<std::byte> rest = next_block(bytes, shared);
  const buffer values{rest.data(), bytes, memory_.back()};
  for (const region& each : regions)
    for (const buffer& run : each.runs)
      fill(rest, run);
  return values;
}

// What of a shard lies in the wanted part, as a shard of that part.
fetch_plan::region fetch_plan::narrowed(const tensor& from, const shard& wanted) {
  region made{from, {}};
  interval local = wanted.held;
  if (from.part && from.part->dimension == wanted.dimension) {
    const interval shared = intersect(from.part->held, wanted.held);
    local = shared.empty() ? interval{} : interval{shared.first - from.part->held.first, shared.end - from.part->held.first};
    made.form.part->held = {shared.first - wanted.held.first, shared.end - wanted.held.first};
    made.form.part->whole = wanted.held.size();
  }
  const auto along = from.shape.begin() + static_cast<std::ptrdiff_t>(wanted.dimension);
  const std::size_t outer = std::accumulate(from.shape.begin(), along, std::size_t{1}, std::multiplies<>{});
  const std::size_t unit = std::accumulate(along + 1, from.shape.end(), bytes_of(from.type), std::multiplies<>{});
  made.form.shape[wanted.dimension] = local.size();
  if (outer == 1 || local.size() == *along) {
    made.runs = {from.values.part(local.first * unit, outer * local.size() * unit)};
    return made;
  }
  for (std::size_t row = 0; row < outer && unit > 0 && !local.empty(); ++row)
    made.runs.push_back(from.values.part((row * *along + local.first) * unit, local.size() * unit));
  return made;
}

// Whether nothing is missing of what regions are shards of.
bool fetch_plan::covered(std::span<const region> regions) {
  if (!regions[0].form.part)
    return true;
  std::size_t next = 0;
  for (const region& each : regions) {
    if (each.form.part->held.first != next)
      return false;
    next = each.form.part->held.end;
  }
  return next == regions[0].form.part->whole;
}

// Whether shards lie behind each other in what they make.
bool fetch_plan::in_a_row(std::span<const region> regions) {
  const tensor& of = regions[0].form;
  return regions.size() == 1 ||
         std::all_of(of.shape.begin(), of.shape.begin() + static_cast<std::ptrdiff_t>(of.part->dimension),
                     [](std::size_t extent) { return extent == 1; });
}

void fetch_plan::bring(const std::string& name, const std::vector<tensor>& shards, const std::optional<shard>& wanted,
                       const blocks& shared) {
  std::vector<region> regions;
  for (const tensor& each : shards) {
    region next = wanted ? narrowed(each, *wanted) : region{each, {each.values}};
    const auto empty = [](const region& of) { return of.form.part && of.form.part->held.empty(); };
    if (regions.size() == 1 && empty(regions[0]))
      regions.clear();
    if (regions.empty() || !empty(next))
      regions.push_back(std::move(next));
  }
  const bool empty = wanted && wanted->held.empty();
  const bool whole = empty || covered(regions);
  if (wanted && !whole)
    throw error("weights: of tensor '" + name + "', " + to_string(wanted->held) + " along dimension " +
                std::to_string(wanted->dimension) + " is wanted, and not all of it is there");
  if (whole && (empty || in_a_row(regions))) {
    tensor made = regions[0].form;
    made.shape = whole_shape(made);
    made.part.reset();
    made.values = brought(regions, shared);
    tensors_.push_back({name, std::move(made)});
    return;
  }
  if (whole)
    apart_.insert(name);
  for (region& each : regions) {
    each.form.values = brought({&each, 1}, shared);
    tensors_.push_back({name, std::move(each.form)});
  }
}

weights fetch_plan::tensors() {
  copy_near();
  std::vector<named_tensor> made;
  for (std::span<const named_tensor> rest(tensors_); !rest.empty();) {
    const std::span<const named_tensor> of = same_name(rest);
    rest = rest.subspan(of.size());
    const weights one{{of.begin(), of.end()}};
    const weights whole = apart_.contains(of[0].name) ? assemble(std::span(&one, 1)) : one;
    made.insert(made.end(), whole.tensors().begin(), whole.tensors().end());
    if (const auto part = parts_.find(of[0].name); part != parts_.end())
      made.back().value.part = part->second;
  }
  return weights{std::move(made), version_};
}

std::vector<weights> one_by_one(const weights& tensors) {
  std::vector<weights> found;
  for (auto rest = tensors.tensors(); !rest.empty();) {
    const std::span<const named_tensor> one = same_name(rest);
    found.emplace_back(std::vector<named_tensor>(one.begin(), one.end()), tensors.version());
    rest = rest.subspan(one.size());
  }
  return found;
}

weights narrow(const weights& tensors, const shard_rule& wanted) {
  return fetch_plan{tensors, [](const buffer&) { return std::optional<buffer>{}; }, wanted}.tensors();
}

std::vector<std::size_t> rows_gone(const batch& rows, const std::function<bool(const far_bytes&)>& gone) {
  const table from = data::table_access::view(rows);
  std::vector<bool> found(from.rows, false);
  for (const slot& column : from.columns) {
    if (!column.store->far())
      continue;
    auto at = found.begin();
    for (const chunk& each : chunks_of(column, from.rows)) {
      const auto end = at + static_cast<std::ptrdiff_t>(each.rows);
      if (each.values.far() != nullptr && gone(*each.values.far()))
        std::fill(at, end, true);
      at = end;
    }
  }
  std::vector<std::size_t> which;
  for (std::size_t row = 0; row < found.size(); ++row)
    if (found[row])
      which.push_back(row);
  return which;
}

bool is_far(const batch& rows) {
  const table from = data::table_access::view(rows);
  return std::any_of(from.columns.begin(), from.columns.end(), [&](const slot& column) {
    return column.store->far() && any_far(chunks_of(column, from.rows));
  });
}

bool is_far(const weights& tensors) {
  const std::span<const named_tensor> all = tensors.tensors();
  return std::any_of(all.begin(), all.end(), [](const named_tensor& each) { return each.value.values.far() != nullptr; });
}

}  // namespace twinkle
