// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "twinkle/sim/mishap.hpp"

namespace twinkle::sim {

/// What is wrong with the workers of a run at the moment, and so how a body that begins now will go.
class troubles {
 public:
  /// A mishap of bodies begins: slows, drags, throws, hangs, or stalls. `stage` is the ordinal of its stage.
  void begin(const mishap& what, std::size_t stage);

  /// A body that would take `lasts` begins at `now`. What befalls the next body only is used up; it throws or hangs only
  /// where it works on rows, or makes them.
  struct course {
    time_point ends{};
    bool throws = false;
    bool hangs = false;
  };
  [[nodiscard]] course next(std::size_t stage, std::size_t worker, time_point now, duration lasts, bool rows = true);

 private:
  struct slowness {
    time_point until{};
    double factor = 1;
  };
  struct patient {
    std::vector<slowness> slow = {};
    duration drags{};
    bool throws = false;
    bool hangs = false;
  };

  [[nodiscard]] static time_point ends_of(time_point now, duration lasts, std::vector<slowness> slow);

  std::map<std::pair<std::size_t, std::size_t>, patient> workers_;  // by stage and worker
  std::map<std::size_t, time_point> stalled_;                       // until when, by stage
};

}  // namespace twinkle::sim
