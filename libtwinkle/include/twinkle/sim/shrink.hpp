// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "twinkle/sim/mishap.hpp"

namespace twinkle::sim {

struct shrunk {
  std::vector<mishap> mishaps = {};
  std::size_t runs = 0;
  bool smallest = false;  ///< without any one of them it holds; else the runs were used up before that was known
};

/// The smallest list that it can find which still `fails`, given one that does: without as many mishaps as can be, and
/// those that are left shorter, earlier, of rounder times and with factors nearer to 1. Asks at most `runs_max` times.
[[nodiscard]] shrunk shrink(std::vector<mishap> failing, const std::function<bool(const std::vector<mishap>&)>& fails,
                            std::size_t runs_max = 200);

}  // namespace twinkle::sim
