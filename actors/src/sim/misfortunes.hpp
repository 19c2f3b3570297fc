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
#include "world.hpp"

namespace twinkle::sim {

/// Brings mishaps about, each at its time, and tells routers what they would hear of it.
class misfortunes {
 public:
  misfortunes(const blueprint& plan, const place::layout& placed, troubles& bodies, world& in)
      : plan_(plan), placed_(placed), bodies_(bodies), in_(in) {}

  /// Throws `error` for one that cannot happen to this graph on these nodes.
  void add(const mishap& what);

 private:
  // Since when nothing is heard of a node, and until when.
  struct silence {
    time_point since{};
    time_point until{-1};
    bool died = false;
    bool lost = false;  // its workers are
  };

  [[nodiscard]] std::function<void()> event_of(const mishap& what);
  [[nodiscard]] std::size_t stage_of(const mishap& what) const;
  [[nodiscard]] std::size_t node_of(const mishap& what, const std::string& name) const;
  [[nodiscard]] std::size_t other_node_of(const mishap& what) const;

  void worker_dies(std::size_t stage, std::size_t worker, duration lasts);
  void node_is_silent(std::size_t node, duration lasts, bool dies);
  void listen(std::size_t node);
  void take_down(std::size_t node);
  void each_worker_on(std::size_t node, const std::function<void(std::size_t stage, std::size_t worker)>& what) const;

  const blueprint& plan_;
  const place::layout& placed_;
  troubles& bodies_;
  world& in_;
  std::map<std::size_t, silence> silences_;     // by node
  std::map<address, time_point> dead_until_;    // by worker
};

}  // namespace twinkle::sim
