// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace twinkle {

/// "a, b, c" of any range of strings.
template <class Range>
[[nodiscard]] std::string list(const Range& items, std::string_view between = ", ") {
  std::string text;
  bool first = true;
  for (const auto& item : items) {
    if (!first)
      text += between;
    text += item;
    first = false;
  }
  return text;
}

/// "1,2,3" of any range of whole numbers.
template <class Range>
[[nodiscard]] std::string list_of_numbers(const Range& numbers) {
  std::string text;
  for (const auto number : numbers) {
    if (!text.empty())
      text += ',';
    text += std::to_string(number);
  }
  return text;
}

}  // namespace twinkle
