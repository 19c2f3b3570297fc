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

/// A block into which the pieces of a column, or of a tensor, go.
struct block {
  std::shared_ptr<std::byte[]> bytes;
  std::size_t filled = 0;

  std::span<std::byte> next(std::size_t count) {
    const std::span<std::byte> part(bytes.get() + filled, count);
    filled += count;
    return part;
  }
};

void fill(block& into, const buffer& from, std::vector<fetch_plan::piece>& pieces) {
  const std::span<std::byte> part = into.next(from.bytes());
  if (part.empty())
    return;
  if (from.far() != nullptr)
    pieces.push_back({from, part});
  else
    std::memcpy(part.data(), from.data(), part.size());
}

slot brought(const slot& column, const std::vector<chunk>& chunks, std::vector<fetch_plan::piece>& pieces) {
  const column_type& type = column.store->type();
  std::vector<chunk> own;
  std::size_t bytes = 0;
  std::size_t rows = 0;
  for (const chunk& each : chunks) {
    own.push_back(alone(each, type));
    bytes += own.back().values.bytes();
    rows += each.rows;
  }
  block whole{std::make_shared_for_overwrite<std::byte[]>(bytes)};
  std::vector<std::uint64_t> offsets{0};
  for (const chunk& each : own) {
    fill(whole, each.values, pieces);
    const auto* from = each.offsets.as<std::uint64_t>();
    for (std::size_t row = 0; from != nullptr && row < each.rows; ++row)
      offsets.push_back(offsets.back() + from[row + 1] - from[row]);
  }
  const buffer values{whole.bytes.get(), bytes, whole.bytes};
  const bool dense = type.kind == column_type::form::dense;
  return slot_of(column, {{values, dense ? buffer{} : buffer::of(std::move(offsets)), 0, rows}});
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

// A tensor, or a part of one, whose values are several runs of bytes behind each other.
struct region {
  tensor form;
  std::vector<buffer> runs;
};

// What of a shard lies in the wanted part, as a shard of that part.
region narrowed(const tensor& from, const shard& wanted) {
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
  const std::size_t unit =
      std::accumulate(along + 1, from.shape.end(), bytes_of(from.type), std::multiplies<>{});
  made.form.shape[wanted.dimension] = local.size();
  for (std::size_t row = 0; row < outer && unit > 0 && !local.empty(); ++row)
    made.runs.push_back(from.values.part((row * *along + local.first) * unit, local.size() * unit));
  if (made.runs.size() == outer && local.size() == *along)
    made.runs = {from.values};
  return made;
}

// Whether shards lie behind each other in what they make.
bool in_a_row(std::span<const region> shards) {
  const tensor& of = shards[0].form;
  return shards.size() == 1 ||
         std::all_of(of.shape.begin(), of.shape.begin() + static_cast<std::ptrdiff_t>(of.part->dimension),
                     [](std::size_t extent) { return extent == 1; });
}

// The values of regions behind each other: as they are if they are one run that is here.
buffer brought(std::span<const region> regions, std::vector<fetch_plan::piece>& pieces) {
  if (regions.size() == 1 && regions[0].runs.size() == 1 && regions[0].runs[0].far() == nullptr)
    return regions[0].runs[0];
  std::size_t bytes = 0;
  for (const region& each : regions)
    for (const buffer& run : each.runs)
      bytes += run.bytes();
  block whole{std::make_shared_for_overwrite<std::byte[]>(bytes)};
  for (const region& each : regions)
    for (const buffer& run : each.runs)
      fill(whole, run, pieces);
  return {whole.bytes.get(), bytes, whole.bytes};
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
    for (std::size_t at = first; at < end && !here; ++at)
      if (const buffer& values = all[at].value.values; (here = values.far() == nullptr ? values : find(values)))
        taken = &all[at].value;
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

fetch_plan::fetch_plan(batch rows, const finder& find) : rows_(std::move(rows)) {
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
    column = any_far(chunks) ? brought(column, chunks, pieces_) : slot_of(column, std::move(chunks));
  }
  rows_ = data::table_access::of(std::move(made));
}

fetch_plan::fetch_plan(const weights& tensors, const finder& find, const shard_rule& wanted, std::size_t turn)
    : tensors_(tensors) {
  if (!is_far(tensors) && !wanted)
    return;
  const std::span<const named_tensor> all = tensors.tensors();
  std::vector<named_tensor> made;
  for (std::size_t at = 0; at < all.size();) {
    const std::span<const named_tensor> of = same_name(all.subspan(at));
    const std::vector<std::size_t> shape = whole_shape(of[0].value);
    const std::optional<shard> part = wanted ? wanted(of[0].name, shape) : std::nullopt;
    if (part) {
      check_wanted(of[0].name, shape, *part);
      parts_[of[0].name] = *part;
    }
    bring(of[0].name, without_replicas(of, find, turn), part, made);
    at += of.size();
  }
  tensors_ = weights{std::move(made), tensors.version()};
}

void fetch_plan::bring(const std::string& name, const std::vector<tensor>& shards, const std::optional<shard>& wanted,
                       std::vector<named_tensor>& made) {
  std::vector<region> regions;
  for (const tensor& each : shards) {
    regions.push_back(wanted ? narrowed(each, *wanted) : region{each, {each.values}});
    if (regions.size() > 1 && regions.back().form.part->held.empty())
      regions.pop_back();
    else if (regions.size() > 1 && regions.front().form.part->held.empty())
      regions.erase(regions.begin());
  }
  if (in_a_row(regions)) {
    tensor whole = regions[0].form;
    whole.shape = whole_shape(whole);
    whole.part.reset();
    whole.values = brought(regions, pieces_);
    made.push_back({name, std::move(whole)});
    return;
  }
  apart_ = true;
  for (region& each : regions) {
    each.form.values = brought({&each, 1}, pieces_);
    made.push_back({name, std::move(each.form)});
  }
}

weights fetch_plan::tensors() const {
  if (!apart_ && parts_.empty())
    return tensors_;
  const weights whole = apart_ ? assemble(std::span(&tensors_, 1)) : tensors_;
  std::vector<named_tensor> all(whole.tensors().begin(), whole.tensors().end());
  for (named_tensor& each : all)
    if (const auto part = parts_.find(each.name); part != parts_.end())
      each.value.part = part->second;
  return weights{std::move(all), tensors_.version()};
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
