// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "twinkle/base/error.hpp"
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
  bool routed = false;  ///< see twinkle::routed
};

/// The most bytes of one row of a routed column.
inline constexpr std::size_t routed_bytes_max = 64;

/// The same column, whose values travel with the descriptions of rows, so that what decides between stages can read
/// them: a filter, the costs of a balanced dispatch, a dispatch function.
/// `inline constexpr auto reward = twinkle::routed(twinkle::column<float>{"reward"});`
/// Throws `error`, and does not compile in a constant, where a row has more than routed_bytes_max.
template <storable T>
[[nodiscard]] constexpr column<T> routed(column<T> key) {
  if (key.shape.width() > routed_bytes_max / sizeof(T))
    throw error("column '" + std::string(key.name) + "' cannot be routed: a row of it has " +
                std::to_string(key.shape.width() * sizeof(T)) + " bytes; at most " + std::to_string(routed_bytes_max) +
                " travel with a description");
  key.routed = true;
  return key;
}

/// Any number of T a row: token ids, log-probs.
template <storable T>
struct ragged {
  std::string_view name;
};

/// Utf-8 text, one string a row.
struct text {
  std::string_view name;
};

/// A column by name alone: any key is one.
struct column_name {
  std::string_view name;

  template <storable T>
  constexpr column_name(const column<T>& key) : name(key.name) {}
  template <storable T>
  constexpr column_name(const ragged<T>& key) : name(key.name) {}
  constexpr column_name(const text& key) : name(key.name) {}
};

/// What a stored column is.
struct column_type {
  enum class form : std::uint8_t { dense, ragged, text };

  element type = element::u8;
  form kind = form::dense;
  row_shape shape{};
  bool routed = false;  ///< how it travels, which is no part of what it is

  friend constexpr bool operator==(const column_type& a, const column_type& b) {
    return a.type == b.type && a.kind == b.kind && a.shape == b.shape;
  }
};

template <class T>
[[nodiscard]] constexpr column_type type_of(const column<T>& key) {
  return {element_of<T>(), column_type::form::dense, key.shape, key.routed};
}
template <class T>
[[nodiscard]] constexpr column_type type_of(const ragged<T>&) {
  return {element_of<T>(), column_type::form::ragged, {}, false};
}
[[nodiscard]] constexpr column_type type_of(const text&) { return {element::u8, column_type::form::text, {}, false}; }

/// "f32", "f32[3,4]", "ragged i32", "text"
[[nodiscard]] std::string to_string(const column_type& type);

}  // namespace twinkle
