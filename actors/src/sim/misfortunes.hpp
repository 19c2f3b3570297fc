// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "twinkle/flow/blueprint.hpp"
#include "twinkle/place/layout.hpp"
#include "twinkle/sim/mishap.hpp"
#include "twinkle/sim/troubles.hpp"
#include "simulated_nodes.hpp"
#include "world.hpp"

namespace twinkle::sim {

/// Brings mishaps about, each at its time.
class misfortunes {
 public:
  misfortunes(const blueprint& plan, const place::layout& placed, troubles& bodies, world& in, simulated_nodes* nodes)
      : plan_(plan), placed_(placed), bodies_(bodies), in_(in), nodes_(nodes) {}

  /// Throws `error` for one that cannot happen to this graph on these nodes.
  void add(const mishap& what);

 private:
  [[nodiscard]] std::function<void()> event_of(const mishap& what);
  [[nodiscard]] std::size_t stage_of(const mishap& what) const;
  [[nodiscard]] std::size_t node_of(const mishap& what, const std::string& name) const;
  [[nodiscard]] std::size_t other_node_of(const mishap& what) const;

  void worker_dies(std::size_t stage, std::size_t worker, duration lasts);

  const blueprint& plan_;
  const place::layout& placed_;
  troubles& bodies_;
  world& in_;
  simulated_nodes* nodes_;  // null: there is one
  std::map<address, time_point> dead_until_;  // by worker
};

}  // namespace twinkle::sim
