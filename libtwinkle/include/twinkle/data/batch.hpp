// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "twinkle/base/interval.hpp"
#include "twinkle/data/buffer.hpp"
#include "twinkle/data/identity.hpp"
#include "twinkle/data/key.hpp"
#include "twinkle/data/view.hpp"

namespace twinkle {

namespace data {
struct chunk;
struct slot;
struct table;
struct table_access;
}

/// Rows of named, typed columns, with the identities of the rows. A value: copying and slicing it, joining batches,
/// selecting and adding columns copy no element. Reading is safe from many threads.
class batch {
 public:
  /// No rows and no columns; the first `with` sets the number of rows.
  batch();

  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;
  /// Throws `error` naming the column and the columns there are.
  [[nodiscard]] column_type type(std::string_view name) const;

  /// Reading a column. Throws `error` naming the column and the columns there are, or both types if it is another.
  template <storable T>
  [[nodiscard]] dense_view<T> operator[](const column<T>& key) const {
    return dense_view<T>{read(key.name, type_of(key))};
  }
  template <storable T>
  [[nodiscard]] ragged_view<T> operator[](const ragged<T>& key) const {
    return ragged_view<T>{read(key.name, type_of(key))};
  }
  [[nodiscard]] text_view operator[](const text& key) const { return text_view{read(key.name, type_of(key))}; }

  /// The number of elements in each row of a ragged or text column.
  [[nodiscard]] std::vector<std::uint64_t> lengths(std::string_view name) const;

  /// The batch with one column more, or with that column replaced. Throws `error` if the number of rows differs.
  template <storable T>
  [[nodiscard]] batch with(const column<T>& key, std::vector<T> values) const {
    return with_dense(key.name, type_of(key), buffer::of(std::move(values)));
  }
  template <storable T>
  [[nodiscard]] batch with(const ragged<T>& key, const std::vector<std::vector<T>>& values) const {
    std::vector<T> joined;
    std::vector<std::uint64_t> offsets{0};
    for (const std::vector<T>& row : values) {
      joined.insert(joined.end(), row.begin(), row.end());
      offsets.push_back(joined.size());
    }
    return with_ragged(key.name, type_of(key), buffer::of(std::move(joined)), buffer::of(std::move(offsets)));
  }
  [[nodiscard]] batch with(const text& key, const std::vector<std::string>& values) const;

  /// The same from buffers with owners: rows x width numbers; or elements, and rows + 1 offsets into them that start
  /// at 0 and never fall. Checked; throws `error`.
  [[nodiscard]] batch with_dense(std::string_view name, column_type type, buffer values) const;
  [[nodiscard]] batch with_ragged(std::string_view name, column_type type, buffer values, buffer offsets) const;

  /// Rows [first, end); throws `error` outside the batch. A tombstone goes with the row that it follows.
  [[nodiscard]] batch operator[](interval rows) const;

  /// The rows of all parts behind each other; parts without rows or columns count only for their tombstones. Throws
  /// `error` where columns or types differ, or where only some parts have identities.
  [[nodiscard]] static batch concat(std::span<const batch> parts);

  /// With the columns of `other` that this batch has not; no element is copied. Throws `error` where the rows differ in
  /// number.
  [[nodiscard]] batch beside(const batch& other) const;

  /// What travels between stages of these rows: identities, routed columns, the lengths of ragged rows. Reading anything
  /// else throws `error`. No element is copied.
  [[nodiscard]] batch description() const;

  /// The named columns only.
  [[nodiscard]] batch select(std::span<const std::string_view> names) const;

  /// These rows in this order, copied.
  [[nodiscard]] batch take(std::span<const std::size_t> rows) const;

  /// Row i of the result is a child of row parents[i], with its columns copied; a parent's children are numbered as
  /// they come. This closes every parent: one without children leaves a tombstone.
  [[nodiscard]] batch expand(std::span<const std::size_t> parents) const;

  /// The batch without these rows (ascending); each leaves a tombstone with the reason.
  [[nodiscard]] batch drop(std::span<const std::size_t> rows, std::string_view reason) const;

  /// The batch with these rows marked as not finished: what a body returns of a row that another worker, or itself later,
  /// is to go on with. It is given back as it was returned, and trained whole. Throws `error` for rows without identities.
  [[nodiscard]] batch unfinished(std::span<const std::size_t> rows) const;

  /// Whether the rows have identities; those that a body makes from nothing get them where they are collected.
  [[nodiscard]] bool identified() const;
  /// The tag of each row. Throws `error` if the rows have no identities.
  [[nodiscard]] std::span<const row_tag> tags() const;
  [[nodiscard]] batch with_tags(std::vector<row_tag> tags) const;
  /// The identities and tombstones of `from`, which has as many rows. No element is copied.
  [[nodiscard]] batch tagged_like(const batch& from) const;
  /// Whether the tags are the very ones of `from`, row by row; cheap, and false where it would not be.
  [[nodiscard]] bool shares_tags(const batch& from) const;

  [[nodiscard]] std::vector<tombstone> tombstones() const;
  [[nodiscard]] std::size_t tombstone_count() const;
  /// The batch with this tombstone behind its last row.
  [[nodiscard]] batch with_tombstone(tombstone lost) const;
  [[nodiscard]] batch without_tombstones() const;

 private:
  batch(std::shared_ptr<const data::table> rows_of, interval rows);

  [[nodiscard]] column_bytes read(std::string_view name, column_type type) const;
  [[nodiscard]] column_bytes contiguous(const data::slot& column) const;
  [[nodiscard]] batch with_column(std::string_view name, const column_type& type, data::chunk only) const;
  [[nodiscard]] data::table view() const;
  [[nodiscard]] static batch of(data::table made);

  friend struct data::table_access;

  std::shared_ptr<const data::table> table_;
  interval rows_;
};

}  // namespace twinkle
