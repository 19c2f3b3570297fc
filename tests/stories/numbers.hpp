// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "twinkle/flow/context.hpp"
#include "twinkle/flow/emission.hpp"

/// A source of rows that are numbered 0, 1, …, eight a batch.
namespace numbers {

inline constexpr auto number = twinkle::routed(twinkle::column<std::int64_t>{"number"});

struct source {
  std::size_t batches;
  std::int64_t next_number = 0;

  explicit source(std::size_t count) : batches(count) {}
  static twinkle::emission emits(std::size_t) { return {.rows = 8, .least = 8}; }

  std::optional<twinkle::batch> next(twinkle::context&) {
    if (batches == 0)
      return std::nullopt;
    --batches;
    std::vector<std::int64_t> values;
    for (int row = 0; row < 8; ++row)
      values.push_back(next_number++);
    return twinkle::batch{}.with(number, values);
  }
};

}  // namespace numbers
