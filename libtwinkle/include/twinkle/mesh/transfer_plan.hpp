// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "twinkle/base/interval.hpp"
#include "twinkle/mesh/layout.hpp"

namespace twinkle {

/// Rows that a target rank has from a source rank.
struct transfer {
  std::size_t source = 0;
  std::size_t target = 0;
  interval rows;

  friend bool operator==(const transfer&, const transfer&) = default;
};

/// The moves that turn one layout into another, by target and row. Each row that a target needs is in exactly one of
/// the two lists.
struct transfer_plan {
  std::vector<transfer> transfers = {};  ///< from place to place
  std::vector<transfer> in_place = {};   ///< what the target's place has already

  [[nodiscard]] std::size_t rows_moved() const;

  friend bool operator==(const transfer_plan&, const transfer_plan&) = default;
};

/// What is at a target's place is not moved; the rest comes from as few sources as it can, replicas taking turns.
///
///     7 rows      0  1  2  3  4  5  6
///     dp 4 holds  0 -- |1 -- |2 -- |3
///     dp 2 needs  0 -------- |1 -----     0 <- 0 [0,2)  0 <- 1 [2,4)  1 <- 2 [4,6)  1 <- 3 [6,7)
///
/// Throws `error` where the extents differ, an interval lies outside of its extent, places are given for some ranks
/// only, or nobody holds a row that is needed.
[[nodiscard]] transfer_plan plan_transfers(const layout& source, const layout& target);

}  // namespace twinkle
