// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "twinkle/data/element.hpp"

namespace twinkle {

/// The shape of one row of a dense column; no dimensions is a scalar.
struct row_shape {
  static constexpr std::size_t rank_max = 4;

  std::array<std::uint32_t, rank_max> sizes{};
  std::uint32_t rank = 0;

  constexpr row_shape() = default;
  /// More than rank_max dimensions do not compile in a constant.
  constexpr row_shape(std::initializer_list<std::uint32_t> dimensions) {
    for (const std::uint32_t size : dimensions)
      sizes.at(rank++) = size;
  }

  /// Numbers in one row.
  [[nodiscard]] constexpr std::size_t width() const {
    std::size_t numbers = 1;
    for (std::uint32_t at = 0; at < rank; ++at)
      numbers *= sizes[at];
    return numbers;
  }

  friend constexpr bool operator==(const row_shape&, const row_shape&) = default;
};

/// A dense column: one T a row, or a fixed shape of them. Keys are constants that carry the type, so that a wrong read
/// does not compile:  `inline constexpr twinkle::column<float> reward{"reward"};`
template <storable T>
struct column {
  std::string_view name;
  row_shape shape{};
};

/// Any number of T a row: token ids, log-probs.
template <storable T>
struct ragged {
  std::string_view name;
};

/// Utf-8 text, one string a row.
struct text {
  std::string_view name;
};

/// What a stored column is.
struct column_type {
  enum class form : std::uint8_t { dense, ragged, text };

  element type = element::u8;
  form kind = form::dense;
  row_shape shape{};

  friend constexpr bool operator==(const column_type&, const column_type&) = default;
};

template <class T>
[[nodiscard]] constexpr column_type type_of(const column<T>& key) {
  return {element_of<T>(), column_type::form::dense, key.shape};
}
template <class T>
[[nodiscard]] constexpr column_type type_of(const ragged<T>&) {
  return {element_of<T>(), column_type::form::ragged, {}};
}
[[nodiscard]] constexpr column_type type_of(const text&) { return {element::u8, column_type::form::text, {}}; }

/// "f32", "f32[3,4]", "ragged i32", "text"
[[nodiscard]] std::string to_string(const column_type& type);

}  // namespace twinkle
