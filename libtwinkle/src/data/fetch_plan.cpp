// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/fetch_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "table.hpp"

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

// Whether shards lie behind each other in the whole.
bool in_a_row(std::span<const named_tensor> shards) {
  if (shards.size() == 1)
    return true;
  const tensor& of = shards[0].value;
  return of.part && std::all_of(of.shape.begin(), of.shape.begin() + static_cast<std::ptrdiff_t>(of.part->dimension),
                                [](std::size_t extent) { return extent == 1; });
}

// The tensor that shards in a row make, or one as it is.
named_tensor brought(std::span<const named_tensor> shards, const fetch_plan::finder& find,
                     std::vector<fetch_plan::piece>& pieces) {
  std::vector<buffer> parts;
  std::size_t bytes = 0;
  for (const named_tensor& each : shards) {
    const buffer& values = each.value.values;
    const std::optional<buffer> here = values.far() != nullptr ? find(values) : std::nullopt;
    parts.push_back(here.value_or(values));
    bytes += values.bytes();
  }
  named_tensor made = shards[0];
  if (shards.size() > 1) {
    made.value.shape[made.value.part->dimension] = made.value.part->whole;
    made.value.part.reset();
  }
  made.value.values = parts[0];
  if (shards.size() == 1 && parts[0].far() == nullptr)
    return made;
  block whole{std::make_shared_for_overwrite<std::byte[]>(bytes)};
  for (const buffer& each : parts)
    fill(whole, each, pieces);
  made.value.values = {whole.bytes.get(), bytes, whole.bytes};
  return made;
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

fetch_plan::fetch_plan(weights tensors, const finder& find) : tensors_(std::move(tensors)) {
  if (!is_far(tensors_))
    return;
  const std::span<const named_tensor> all = tensors_.tensors();
  std::vector<named_tensor> made;
  for (std::size_t at = 0; at < all.size();) {
    const std::span<const named_tensor> shards = same_name(all.subspan(at));
    if (in_a_row(shards)) {
      made.push_back(brought(shards, find, pieces_));
    } else {
      for (std::size_t each = 0; each < shards.size(); ++each)
        made.push_back(brought(shards.subspan(each, 1), find, pieces_));
      apart_ = true;
    }
    at += shards.size();
  }
  tensors_ = weights{std::move(made), tensors_.version()};
}

weights fetch_plan::tensors() const {
  return apart_ ? assemble(std::span(&tensors_, 1)).at_version(tensors_.version()) : tensors_;
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
