// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "twinkle/flow/hall_letter.hpp"

namespace twinkle::runtime {

/// The way to the halls of the same stage on other nodes. From many threads at a time.
class hall_outside {
 public:
  virtual ~hall_outside() = default;

  /// The node of a worker. Throws `error` for one that the stage does not have.
  [[nodiscard]] virtual std::size_t node_of(std::size_t worker) const = 0;
  [[nodiscard]] virtual std::size_t here() const = 0;
  /// Brings a letter to the hall of another node, once, or not at all if the node is gone. It never blocks, and calls
  /// no hall.
  virtual void send(std::size_t node, hall_letter letter) = 0;
};

}  // namespace twinkle::runtime
