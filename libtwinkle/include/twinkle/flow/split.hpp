// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "twinkle/base/interval.hpp"

namespace twinkle {

/// Rows divided among parts: ascending in each, the parts by their first rows, those without rows last.
struct split {
  std::vector<std::vector<std::size_t>> parts = {};
  std::vector<std::uint64_t> costs = {};   ///< of each part
  std::vector<std::size_t> oversize = {};  ///< rows that cost more than the cap: each is a part of its own

  friend bool operator==(const split&, const split&) = default;
};

struct balance_options {
  bool equal_counts = true;  ///< each part has as many rows as its even slice would; with groups, as many groups
  bool allow_empty = false;  ///< whether fewer rows than parts may leave the last parts without any
  std::span<const std::uint64_t> groups = {};  ///< a key for each row: rows of one key stay in one part
};

/// Parts whose costs are as even as a quick search makes them; each has a row where there are enough. The same input
/// gives the same parts everywhere. Throws `error` for no parts, fewer rows (or groups) than parts, costs whose sum is
/// 2^64 or more, and keys for some rows only.
[[nodiscard]] split balance(std::span<const std::uint64_t> costs, std::size_t parts, const balance_options& how = {});

/// At least `at_least` parts, and no more than it takes to keep each within `cap`, as far as a quick search tells. A
/// row that alone costs more is a part of its own. Rows are capped in number by costs of 1. Throws `error` for a cap
/// of 0, fewer rows than parts, and costs whose sum is 2^64 or more.
[[nodiscard]] split pack(std::span<const std::uint64_t> costs, std::uint64_t cap, std::size_t at_least = 1);

/// Batches of `size` rows in order; the last has what is left. They are cut from the whole, each is then sliced over
/// the data ranks. Throws `error` for a size of 0, and for a rest where all have to be `full`.
[[nodiscard]] std::vector<interval> mini_batches(std::size_t rows, std::size_t size, bool full = false);

}  // namespace twinkle
