// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>

#include "twinkle/base/time.hpp"

namespace twinkle::sim {

/// What one node sends to another: in order, and without loss while the connection is up. What is on its way when it is
/// cut is sent again when it is back, before anything else.
class connection {
 public:
  /// What happens at the other end when something arrives.
  using arrival = std::function<void()>;

  /// It takes `takes`, and as long as those before it.
  void send(arrival what, time_point now, duration takes);

  /// What has arrived; nothing while the connection is cut.
  [[nodiscard]] std::optional<arrival> take(time_point now);
  /// When the next one arrives, if it is not cut before.
  [[nodiscard]] std::optional<time_point> next() const;

  void cut() { ++cuts_; }
  /// Undoes one cut; several may overlap.
  void heal(time_point now);
  [[nodiscard]] bool is_cut() const { return cuts_ > 0; }
  /// A node at one of its ends is gone.
  void forget() { parcels_.clear(); }

 private:
  struct parcel {
    arrival what;
    duration takes{};     // on its way
    time_point arrives{};
  };

  std::deque<parcel> parcels_;
  std::size_t cuts_ = 0;
};

}  // namespace twinkle::sim
