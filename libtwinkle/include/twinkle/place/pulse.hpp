// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>

#include "twinkle/base/time.hpp"

namespace twinkle::place {

/// "5 s", "1500 ms"
[[nodiscard]] inline std::string in_seconds(duration of) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(of).count();
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

/// Whether the other side of a connection is alive: each side says something at least each `every`, and one of which
/// nothing has come for `silence` is gone. Only the own clock counts, so that clocks may differ.
class pulse {
 public:
  struct rhythm {
    duration every = std::chrono::seconds(1);
    duration silence = std::chrono::seconds(5);

    /// Often enough that some beats may be late.
    static rhythm of(duration silence) { return {std::min<duration>(std::chrono::seconds(1), silence / 5), silence}; }
  };

  pulse(rhythm of, time_point now) : of_(of), heard_(now), said_(now - of.every) {}

  void heard(time_point now) { heard_ = now; }
  [[nodiscard]] bool silent(time_point now) const { return now >= silent_at(); }
  [[nodiscard]] std::string why_silent() const { return "nothing came from it for " + in_seconds(of_.silence); }

  /// Whether it is time to say something; then that is taken to be said.
  [[nodiscard]] bool beat(time_point now) {
    if (now - said_ < of_.every)
      return false;
    said_ = now;
    return true;
  }

  [[nodiscard]] time_point silent_at() const { return heard_ + of_.silence; }
  /// When there is something to say, or to miss.
  [[nodiscard]] time_point next() const { return std::min(said_ + of_.every, silent_at()); }

 private:
  rhythm of_;
  time_point heard_;
  time_point said_;
};

}  // namespace twinkle::place
