// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace twinkle {

/// Rows that a worker takes through its model at once.
struct micro_batch {
  std::vector<std::size_t> rows = {};  ///< of the data rank's part, ascending
  bool dummy = false;                  ///< of no weight: its rank's cheapest row again, or no row where it has none
  bool oversize = false;               ///< one row, above the cap

  friend bool operator==(const micro_batch&, const micro_batch&) = default;
};

/// The micro-batches of each data rank, as many for one as for another: so pipelines and collectives match.
struct micro_batch_plan {
  std::vector<std::vector<micro_batch>> ranks = {};  ///< those of rows by their first rows, then the dummies

  friend bool operator==(const micro_batch_plan&, const micro_batch_plan&) = default;
};

struct micro_batch_options {
  std::uint64_t cap = std::numeric_limits<std::uint64_t>::max();  ///< of a micro-batch's cost, never broken
  std::size_t at_least = 1;
  std::size_t multiple_of = 1;  ///< virtual pipeline stages, where they ask for it
  bool allow_dummies = true;    ///< if not, ranks that run short cut their rows finer
};

/// From the costs of the rows of each data rank. Throws `error` for costs and caps that `pack` refuses, for numbers
/// below 1 or above 4096, and, where dummies are refused, for fewer rows than micro-batches on some rank, naming how
/// many there are of rows and how many would run.
[[nodiscard]] micro_batch_plan plan_micro_batches(std::span<const std::vector<std::uint64_t>> costs,
                                                  const micro_batch_options& how = {});

}  // namespace twinkle
