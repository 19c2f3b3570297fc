// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "twinkle/flow/blueprint.hpp"

namespace twinkle {

/// What check() has to say of a graph. Problems refuse a run; remarks are printed.
struct verdict {
  std::vector<std::string> problems = {};
  std::vector<std::string> remarks = {};

  [[nodiscard]] bool good() const { return problems.empty(); }
};

/// All problems of a graph at once, before anything starts: names used twice, stages that nobody feeds, meshes that do
/// not fit their groups, credits and buffers that are too small, batches that can be smaller than the data ranks
/// without a policy, a staleness bound that cannot be held, nothing that ends the run, a stage that keeps what no
/// step is made of. A publish cycle without a bound
/// is a remark: it runs, but is not promised to repeat.
[[nodiscard]] verdict check(const blueprint& plan);

}  // namespace twinkle
