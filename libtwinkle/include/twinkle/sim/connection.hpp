// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "twinkle/flow/message.hpp"

namespace twinkle::sim {

/// What one node sends to another: in order, and without loss while the connection is up. What is on its way when it is
/// cut is sent again when it is back, before anything else.
class connection {
 public:
  struct parcel {
    address from;
    envelope what;
    duration takes{};     ///< on its way
    time_point arrives{};
  };

  /// It takes `takes`, and as long as those before it.
  void send(const address& from, envelope what, time_point now, duration takes);

  /// What has arrived; nothing while the connection is cut.
  [[nodiscard]] std::optional<parcel> take(time_point now);
  /// When the next one arrives, if it is not cut before.
  [[nodiscard]] std::optional<time_point> next() const;

  /// What is on its way, or waits for it to be back.
  [[nodiscard]] const std::deque<parcel>& parcels() const { return parcels_; }

  void cut() { ++cuts_; }
  /// Undoes one cut; several may overlap.
  void heal(time_point now);
  /// A node at one of its ends is gone.
  void forget() { parcels_.clear(); }
  /// An actor is gone, and with it what is on its way to it.
  void forget(const address& who);

 private:
  std::deque<parcel> parcels_;
  std::size_t cuts_ = 0;
};

}  // namespace twinkle::sim
