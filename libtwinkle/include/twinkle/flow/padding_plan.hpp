// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace twinkle {

/// How a small batch is filled up: its rows, then copies of them in turn.
///
///     3 rows to 8     0 1 2 | 0 1 2 0 1
struct padding_plan {
  std::vector<std::size_t> rows = {};  ///< which row of the batch stands at each place
  std::size_t real = 0;                ///< those at and behind this place are copies, to be marked as padding

  [[nodiscard]] bool copy(std::size_t at) const { return at >= real; }

  friend bool operator==(const padding_plan&, const padding_plan&) = default;
};

/// Throws `error` for no rows, of which no copies can be made. More rows than `to` stay as they are.
[[nodiscard]] padding_plan plan_padding(std::size_t rows, std::size_t to);

}  // namespace twinkle
