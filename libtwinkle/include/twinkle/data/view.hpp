// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace twinkle {

/// The contiguous bytes behind some rows of one column, and what keeps them alive.
struct column_bytes {
  std::shared_ptr<const void> keep;
  const std::byte* values = nullptr;           ///< of the first row if dense, else of the offsets' origin
  const std::uint64_t* offsets = nullptr;      ///< rows + 1 of them, in elements; ragged and text only
  std::size_t rows = 0;
  std::size_t width = 1;                       ///< numbers a row; dense only
};

/// The rows of a dense column. It keeps its data alive, also after the batch is gone.
template <class T>
class dense_view {
 public:
  explicit dense_view(column_bytes bytes) : bytes_(std::move(bytes)) {}

  /// Rows x width numbers, row by row.
  [[nodiscard]] std::span<const T> values() const {
    return {reinterpret_cast<const T*>(bytes_.values), bytes_.rows * bytes_.width};
  }
  [[nodiscard]] std::span<const T> row(std::size_t at) const { return values().subspan(at * bytes_.width, bytes_.width); }
  [[nodiscard]] std::size_t rows() const { return bytes_.rows; }

  [[nodiscard]] const T& operator[](std::size_t at) const { return values()[at]; }
  [[nodiscard]] auto begin() const { return values().begin(); }
  [[nodiscard]] auto end() const { return values().end(); }

 private:
  column_bytes bytes_;
};

/// The rows of a ragged column, each a span of its own length.
template <class T>
class ragged_view {
 public:
  explicit ragged_view(column_bytes bytes) : bytes_(std::move(bytes)) {}

  [[nodiscard]] std::span<const T> operator[](std::size_t row) const {
    const std::uint64_t first = bytes_.offsets[row];
    return {reinterpret_cast<const T*>(bytes_.values) + first, bytes_.offsets[row + 1] - first};
  }
  [[nodiscard]] std::size_t rows() const { return bytes_.rows; }
  [[nodiscard]] std::size_t elements() const {
    return bytes_.rows == 0 ? 0 : bytes_.offsets[bytes_.rows] - bytes_.offsets[0];
  }

 private:
  column_bytes bytes_;
};

/// The rows of a text column.
class text_view {
 public:
  explicit text_view(column_bytes bytes) : rows_(std::move(bytes)) {}

  [[nodiscard]] std::string_view operator[](std::size_t row) const {
    const std::span<const char> letters = rows_[row];
    return {letters.data(), letters.size()};
  }
  [[nodiscard]] std::size_t rows() const { return rows_.rows(); }

 private:
  ragged_view<char> rows_;
};

}  // namespace twinkle
