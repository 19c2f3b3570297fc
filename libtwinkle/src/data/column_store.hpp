// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "twinkle/base/interval.hpp"
#include "twinkle/data/buffer.hpp"
#include "twinkle/data/key.hpp"
#include "twinkle/data/view.hpp"

namespace twinkle::data {

/// Rows [first, first + rows) of some buffers.
struct chunk {
  buffer values;
  buffer offsets;  // of u64, in elements; ragged and text only
  std::size_t first = 0;
  std::size_t rows = 0;
};

/// The chunk by itself: its values begin with its first row, and its offsets with 0. Offsets are copied where they do not.
[[nodiscard]] chunk alone(const chunk& from, const column_type& type);

/// One column of a table: chunks that stand behind each other. Immutable, but for the joined copy that the first reader
/// across chunks makes.
class column_store {
 public:
  column_store(std::string name, column_type type, std::vector<chunk> chunks);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const column_type& type() const { return type_; }
  [[nodiscard]] const std::vector<chunk>& chunks() const { return chunks_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }

  /// The rows as one run of bytes: borrowed where one chunk holds them, else from the whole column joined, once.
  /// `self` is the pointer that holds this store. Throws `error` where some of them lie on another node.
  [[nodiscard]] static column_bytes contiguous(const std::shared_ptr<const column_store>& self, interval rows);

  /// The number of elements in each of the rows of a ragged or text column, which may lie on another node.
  void append_lengths(interval rows, std::vector<std::uint64_t>& lengths) const;

  /// Whether some of it lies on another node.
  [[nodiscard]] bool far() const { return far_; }

  /// Appends the pieces that hold `rows` to `pieces`; a piece that continues the last one is merged into it.
  void append(interval rows, std::vector<chunk>& pieces) const;

 private:
  [[nodiscard]] std::size_t find(std::size_t row) const;
  [[nodiscard]] chunk join() const;
  // Rows that are all here, of a column of which others are not. Throws `error` if they are not.
  [[nodiscard]] std::shared_ptr<const column_store> here(interval rows) const;

  std::string name_;
  column_type type_;
  std::vector<chunk> chunks_;
  std::vector<std::size_t> starts_;  // the first row of each chunk
  std::size_t rows_ = 0;
  bool far_ = false;
  mutable std::once_flag joining_;
  mutable chunk joined_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<std::size_t, std::size_t>, std::shared_ptr<const column_store>> here_;
};

}  // namespace twinkle::data
