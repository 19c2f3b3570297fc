// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace twinkle {

/// The type of one stored number.
enum class element : std::uint8_t { u8, i32, i64, f32, f64 };

template <class T>
concept storable = std::same_as<T, std::uint8_t> || std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t> ||
                   std::same_as<T, float> || std::same_as<T, double>;

template <storable T>
[[nodiscard]] constexpr element element_of() {
  if constexpr (std::same_as<T, std::uint8_t>)
    return element::u8;
  else if constexpr (std::same_as<T, std::int32_t>)
    return element::i32;
  else if constexpr (std::same_as<T, std::int64_t>)
    return element::i64;
  else if constexpr (std::same_as<T, float>)
    return element::f32;
  else
    return element::f64;
}

[[nodiscard]] constexpr std::size_t bytes_of(element type) {
  switch (type) {
    case element::u8: return 1;
    case element::i32:
    case element::f32: return 4;
    case element::i64:
    case element::f64: return 8;
  }
  return 0;
}

[[nodiscard]] constexpr std::string_view name_of(element type) {
  switch (type) {
    case element::u8: return "u8";
    case element::i32: return "i32";
    case element::i64: return "i64";
    case element::f32: return "f32";
    case element::f64: return "f64";
  }
  return "unknown";
}

}  // namespace twinkle
