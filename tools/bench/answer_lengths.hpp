// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "twinkle/base/random.hpp"

/// How long the answers of GSM8K's test set are, in bytes of UTF-8: how many lie in [0,16), [16,32) and so on.
inline constexpr std::size_t answer_bin_bytes = 16;
inline constexpr std::array<std::uint32_t, 67> answers_by_length{
    0, 0, 0, 3, 3, 24, 35, 30, 50, 75, 62, 69, 66, 63, 61, 67, 53, 70, 50, 69, 58, 45, 35, 40, 40, 26, 26, 25, 14, 25,
    12, 14, 19, 7, 20, 8, 5, 6, 8, 5, 2, 2, 3, 5, 1, 3, 2, 2, 2, 3, 1, 0, 2, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1,
};

/// As many lengths, drawn from that histogram and the same on every machine.
[[nodiscard]] inline std::vector<std::uint64_t> answer_lengths(std::size_t rows) {
  std::vector<std::uint64_t> ends;
  std::uint64_t answers = 0;
  for (const std::uint32_t count : answers_by_length)
    ends.push_back(answers += count);
  twinkle::generator random{1};
  std::vector<std::uint64_t> lengths(rows);
  for (std::uint64_t& length : lengths) {
    const auto bin = std::upper_bound(ends.begin(), ends.end(), random.below(answers)) - ends.begin();
    length = static_cast<std::uint64_t>(bin) * answer_bin_bytes + random.below(answer_bin_bytes);
  }
  return lengths;
}
