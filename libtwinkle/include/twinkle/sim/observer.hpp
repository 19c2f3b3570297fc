// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "twinkle/flow/message.hpp"
#include "twinkle/flow/run_report.hpp"
#include "twinkle/sim/mishap.hpp"

namespace twinkle::sim {

/// Sees what happens in a simulation, in the order in which it happens.
class observer {
 public:
  virtual ~observer() = default;
  /// A message has come, and is about to be received, unless whom it was for is gone.
  virtual void on_delivery(time_point /*now*/, const address& /*from*/, const address& /*to*/, const message&) {}
  virtual void on_mishap(time_point /*now*/, const mishap&) {}

  struct in_flight {
    address from;
    address to;
    const message* content = nullptr;
  };
  /// Where a world can say so: all that was still on its way when the run was over, just before `on_end`.
  virtual void on_undelivered(time_point /*now*/, std::span<const in_flight>) {}
  /// The run is over; `ended` is false where it was still going when its time was up, or nothing could happen any more.
  virtual void on_end(time_point /*now*/, const run_report&, bool /*ended*/) {}
};

}  // namespace twinkle::sim
