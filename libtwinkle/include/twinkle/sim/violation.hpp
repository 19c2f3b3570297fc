// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "twinkle/base/time.hpp"

namespace twinkle::sim {

/// A promise that a run broke, in words: which rows, by identity, and where.
struct violation {
  std::string oracle;  ///< rows, order, groups, staleness, versions, credits, drains, freed
  time_point at{};
  std::string what;

  friend bool operator==(const violation&, const violation&) = default;
};

/// "at 2.000s rows: row 0:3 is trained twice, the second time by model[dp=0]"
[[nodiscard]] std::string to_string(const violation& found);

}  // namespace twinkle::sim
