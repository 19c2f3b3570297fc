// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "column_store.hpp"
#include "twinkle/data/batch.hpp"
#include "twinkle/data/identity.hpp"

namespace twinkle::data {

/// A column as a table shows it: the rows of a store from `first` on.
struct slot {
  std::shared_ptr<const column_store> store;
  std::size_t first = 0;
  bool withheld = false;  // what it holds is not to be read here, but for lengths
};

/// A tombstone and how many rows of the table come before it.
struct grave {
  std::size_t behind = 0;
  tombstone lost;
};

/// What stands behind a batch, and is shared by its slices.
struct table {
  std::size_t rows = 0;
  std::vector<slot> columns;
  std::optional<slot> tags = std::nullopt;  // dense bytes, one row_tag a row
  std::vector<grave> graves;                // by `behind`

  [[nodiscard]] const slot* find(std::string_view name) const {
    for (const slot& column : columns)
      if (column.store->name() == name)
        return &column;
    return nullptr;
  }
};

/// The stored form of tags.
inline constexpr column_type tag_type{element::u8, column_type::form::dense, {sizeof(row_tag)}};

/// The chunks that hold the first `rows` rows of a slot.
[[nodiscard]] std::vector<chunk> chunks_of(const slot& from, std::size_t rows);

[[nodiscard]] slot tag_slot(std::vector<row_tag> tags);

/// The graves that a slice takes along: one goes with the row that it follows, those at the front with row 0.
[[nodiscard]] std::vector<grave> graves_of(const table& from, interval rows);

/// The way from a batch to a table of its rows and back, for the wire form, which needs chunks as they are.
struct table_access {
  [[nodiscard]] static table view(const batch& rows) { return rows.view(); }
  [[nodiscard]] static batch of(table made) { return batch::of(std::move(made)); }
};

}  // namespace twinkle::data
