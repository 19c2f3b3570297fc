// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "twinkle/base/random.hpp"
#include "twinkle/base/time.hpp"

namespace twinkle::sim {

/// Times as long tails have them, at least half the median and less than 64 medians: of those above the median half are
/// above twice as much, half of these above four times, and so on. In whole numbers, so the same on every machine.
[[nodiscard]] duration heavy_tail(generator& random, duration median);

}  // namespace twinkle::sim
