// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "twinkle/data/batch.hpp"

namespace twinkle {

/// Puts lines of JSONL together into a batch. A line is one object, and its fields are the columns:
///
///     "some text"    text            [1, 2]       ragged i64
///     12             i64             [1, 2.5]     ragged f64
///     1.5            f64             true         u8
///
/// All lines have the same fields, in any order, and a field is of one kind in all of them; but whole numbers become
/// f64 where another line has a fraction. Nothing else is read: no null, no objects within the object, no other arrays.
class jsonl_reader {
 public:
  static constexpr std::size_t fields_max = 1024;
  static constexpr std::size_t name_bytes_max = 256;

  /// What a line with a fraction does to a field that was whole in the first line.
  enum class fractions { widen, refuse };

  jsonl_reader();
  /// With `refuse`, the first line alone fixes the types of the columns, so that readers of different lines agree.
  explicit jsonl_reader(fractions how);
  ~jsonl_reader();
  jsonl_reader(const jsonl_reader&) = delete;
  jsonl_reader& operator=(const jsonl_reader&) = delete;

  /// Reads line `number`, counted from 1, as one more row; false for a blank line, which is none. A byte order mark
  /// before line 1 and a carriage return at the end are no part of it. Throws `error` "line 17: …" for what is no row
  /// like those before it; the reader is then as if it had not seen that line.
  bool add(std::string_view line, std::size_t number);

  [[nodiscard]] std::size_t rows() const;

  /// What was read so far: columns in the order of the first line, rows without identities.
  [[nodiscard]] batch read() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace twinkle
