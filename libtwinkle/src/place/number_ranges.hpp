// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace twinkle::place {

/// "3" or "3-7", of the numbers from `first` to `last`.
[[nodiscard]] inline std::string number_range(std::size_t first, std::size_t last) {
  return first == last ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(last);
}

/// "0-3,6" of ascending numbers.
[[nodiscard]] inline std::string number_ranges(const std::vector<std::size_t>& numbers) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
      ++last;
    text += (text.empty() ? "" : ",") + number_range(numbers[first], numbers[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace twinkle::place
