// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "twinkle/place/layout.hpp"
#include "twinkle/sim/seen.hpp"
#include "twinkle/sim/shrink.hpp"

namespace twinkle::sim {

/// What was told to a run that is to be explained, and how it is told again.
struct circumstances {
  std::uint64_t seed = 0;
  std::size_t nodes = 0;
  std::size_t workers = 0;
  std::vector<mishap> mishaps = {};
  std::size_t mishaps_before = 0;  ///< they were shrunk
  bool smallest = false;           ///< without any one of them it would not be wrong
  std::size_t runs = 0;            ///< that shrinking took; 0: they were not shrunk
  std::string again = {};          ///< the line that repeats it
};

/// "0x2a"
[[nodiscard]] std::string short_hexadecimal(std::uint64_t value);

/// A block of lines: seed, time and step of what was wrong, mishaps, the fault, lost rows and where they were last seen,
/// who waits for whom, and the line that repeats it.
[[nodiscard]] std::string explain(const seen& of, const circumstances& in);

}  // namespace twinkle::sim
