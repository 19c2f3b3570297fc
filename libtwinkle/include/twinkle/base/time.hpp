// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace twinkle {

/// Time is whole nanoseconds everywhere.
using duration = std::chrono::nanoseconds;

/// Time since a run began, real or virtual.
using time_point = std::chrono::nanoseconds;

/// For whoever wants to wait without end; check() remarks on it.
inline constexpr duration no_deadline = duration::max();

/// "4.213s", "12ms", "350us", "20ns": the unit that reads best.
[[nodiscard]] std::string to_string(duration time);

[[nodiscard]] inline double seconds(duration time) { return static_cast<double>(time.count()) * 1e-9; }

}  // namespace twinkle
