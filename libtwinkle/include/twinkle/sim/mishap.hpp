// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "twinkle/base/time.hpp"

namespace twinkle::sim {

/// What goes wrong in a simulation, when, where and for how long: a fault with its healing is one value, so that a list
/// of them can be drawn, printed, replayed and shrunk.
struct mishap {
  enum class kind : std::uint8_t {
    slows,         ///< bodies of a worker take `factor` times as long, or what of them is before it has lasted
    drags,         ///< the next body of a worker takes longer by `lasts`
    throws,        ///< the next body of a worker that works on rows throws
    hangs,         ///< the next body of a worker that works on rows does not end by itself, but when it is told to
    dies,          ///< a worker is gone with its object; it can be built again when it has lasted
    late_weights,  ///< weights that are sent to a stage meanwhile arrive when it is over
    stalls,        ///< no body of a stage begins
    node_dies,     ///< with all workers on it; it is back, empty, when it has lasted
    node_freezes,  ///< nothing happens on it
    cut,           ///< the link between `node` and `other` is down, and what was on it is sent again when it is back
  };

  time_point at{};
  kind what = kind::slows;
  std::string stage = {};   ///< of a worker, or that is stalled
  std::size_t worker = 0;
  std::string node = {};
  std::string other = {};
  double factor = 1;
  duration lasts{};

  friend bool operator==(const mishap&, const mishap&) = default;
};

/// "at 5.000s sampler[2] dies", "at 1.000s node-1 and node-2 are cut off from each other for 3.000s"
[[nodiscard]] std::string to_string(const mishap& what);

}  // namespace twinkle::sim
