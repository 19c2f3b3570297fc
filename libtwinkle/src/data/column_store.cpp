// SPDX-License-Identifier: Apache-2.0
#include "column_store.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "twinkle/base/ensure.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle::data {
namespace {

std::size_t row_bytes(const column_type& type) { return bytes_of(type.type) * type.shape.width(); }

column_bytes borrow(const chunk& from, const column_type& type, interval rows, std::shared_ptr<const void> keep) {
  column_bytes bytes;
  bytes.keep = std::move(keep);
  bytes.rows = rows.size();
  if (type.kind == column_type::form::dense) {
    bytes.width = type.shape.width();
    bytes.values = from.values.data() + (from.first + rows.first) * row_bytes(type);
  } else {
    bytes.values = from.values.data();
    bytes.offsets = from.offsets.as<std::uint64_t>() + from.first + rows.first;
  }
  return bytes;
}

// Offsets that start at 0: those of the chunk, if they do.
buffer rebased(const std::uint64_t* from, const chunk& of) {
  if (from[0] == 0)
    return of.offsets.part(of.first * sizeof(std::uint64_t), (of.rows + 1) * sizeof(std::uint64_t));
  std::vector<std::uint64_t> offsets(from, from + of.rows + 1);
  for (std::uint64_t& each : offsets)
    each -= from[0];
  return buffer::of(std::move(offsets));
}

}  // namespace

chunk alone(const chunk& from, const column_type& type) {
  if (type.kind == column_type::form::dense) {
    const std::size_t unit = row_bytes(type);
    return {from.values.part(from.first * unit, from.rows * unit), {}, 0, from.rows};
  }
  const std::size_t unit = bytes_of(type.type);
  const auto* offsets = from.offsets.as<std::uint64_t>() + from.first;
  return {from.values.part(offsets[0] * unit, (offsets[from.rows] - offsets[0]) * unit), rebased(offsets, from), 0,
          from.rows};
}

column_store::column_store(std::string name, column_type type, std::vector<chunk> chunks)
    : name_(std::move(name)), type_(type), chunks_(std::move(chunks)) {
  starts_.reserve(chunks_.size());
  for (const chunk& piece : chunks_) {
    starts_.push_back(rows_);
    rows_ += piece.rows;
    far_ = far_ || piece.values.far() != nullptr;
  }
}

std::size_t column_store::find(std::size_t row) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), row);
  return static_cast<std::size_t>(after - starts_.begin()) - 1;
}

column_bytes column_store::contiguous(const std::shared_ptr<const column_store>& self, interval rows) {
  if (rows.empty()) {
    static const std::uint64_t none = 0;
    return {self, nullptr, &none, 0, self->type_.shape.width()};
  }
  ensure(rows.end <= self->rows_, "rows of the column");
  const std::size_t at = self->find(rows.first);
  const std::size_t start = self->starts_[at];
  const bool in_one = rows.end <= start + self->chunks_[at].rows;
  if (in_one ? self->chunks_[at].values.far() != nullptr : self->far_)
    return contiguous(self->here(rows), {0, rows.size()});
  if (in_one)
    return borrow(self->chunks_[at], self->type_, {rows.first - start, rows.end - start}, self);
  std::call_once(self->joining_, [&] { self->joined_ = self->join(); });
  return borrow(self->joined_, self->type_, rows, self);
}

std::shared_ptr<const column_store> column_store::here(interval rows) const {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const column_store>& found = here_[{rows.first, rows.end}];
  if (found)
    return found;
  std::vector<chunk> pieces;
  append(rows, pieces);
  if (std::any_of(pieces.begin(), pieces.end(), [](const chunk& piece) { return piece.values.far() != nullptr; }))
    throw error("column '" + name_ + "' lies on the node where a stage made it, and cannot be read between stages; "
                "declare its key with twinkle::routed, or read it in a stage");
  return found = std::make_shared<const column_store>(name_, type_, std::move(pieces));
}

void column_store::append_lengths(interval rows, std::vector<std::uint64_t>& lengths) const {
  std::vector<chunk> pieces;
  append(rows, pieces);
  for (const chunk& piece : pieces) {
    const auto* offsets = piece.offsets.as<std::uint64_t>() + piece.first;
    for (std::size_t row = 0; row < piece.rows; ++row)
      lengths.push_back(offsets[row + 1] - offsets[row]);
  }
}

void column_store::append(interval rows, std::vector<chunk>& pieces) const {
  if (rows.empty())
    return;
  for (std::size_t at = find(rows.first); at < chunks_.size() && starts_[at] < rows.end; ++at) {
    const interval part = intersect(rows, {starts_[at], starts_[at] + chunks_[at].rows});
    if (part.empty())
      continue;
    chunk piece = chunks_[at];
    piece.first += part.first - starts_[at];
    piece.rows = part.size();
    if (!pieces.empty() && piece.values.bytes() > 0 && pieces.back().values.begins_with(piece.values) &&
        pieces.back().offsets.begins_with(piece.offsets) &&
        pieces.back().first + pieces.back().rows == piece.first)
      pieces.back().rows += piece.rows;
    else
      pieces.push_back(std::move(piece));
  }
}

chunk column_store::join() const {
  const bool dense = type_.kind == column_type::form::dense;
  const std::size_t unit = dense ? row_bytes(type_) : bytes_of(type_.type);
  std::vector<std::uint64_t> offsets;
  std::size_t elements = rows_;
  if (!dense) {
    offsets.reserve(rows_ + 1);
    offsets.push_back(0);
    for (const chunk& piece : chunks_) {
      const auto* from = piece.offsets.as<std::uint64_t>() + piece.first;
      for (std::size_t row = 0; row < piece.rows; ++row)
        offsets.push_back(offsets.back() + from[row + 1] - from[row]);
    }
    elements = offsets.back();
  }
  const auto values = std::make_shared_for_overwrite<std::byte[]>(elements * unit);
  std::byte* to = values.get();
  for (const chunk& piece : chunks_) {
    std::size_t first = piece.first;
    std::size_t count = piece.rows;
    if (!dense) {
      const auto* from = piece.offsets.as<std::uint64_t>();
      first = from[piece.first];
      count = from[piece.first + piece.rows] - first;
    }
    if (count > 0)
      std::memcpy(to, piece.values.data() + first * unit, count * unit);
    to += count * unit;
  }
  return {buffer{values.get(), elements * unit, values}, dense ? buffer{} : buffer::of(std::move(offsets)), 0, rows_};
}

}  // namespace twinkle::data
