// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "twinkle/base/time.hpp"

namespace twinkle::place {

/// Whether the other side of a connection is alive: each side says something at least each `every`, and one of which
/// nothing has come for `silence` is gone. Only the own clock counts, so that clocks may differ.
class pulse {
 public:
  struct rhythm {
    duration every = std::chrono::seconds(1);
    duration silence = std::chrono::seconds(5);
  };

  pulse(rhythm of, time_point now) : of_(of), heard_(now), said_(now - of.every) {}

  void heard(time_point now) { heard_ = now; }
  [[nodiscard]] bool silent(time_point now) const { return now - heard_ >= of_.silence; }

  /// Whether it is time to say something; then that is taken to be said.
  [[nodiscard]] bool beat(time_point now) {
    if (now - said_ < of_.every)
      return false;
    said_ = now;
    return true;
  }

  [[nodiscard]] time_point next() const { return std::min(said_ + of_.every, heard_ + of_.silence); }

 private:
  rhythm of_;
  time_point heard_;
  time_point said_;
};

}  // namespace twinkle::place
