// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "twinkle/base/error.hpp"
#include "twinkle/sim/story.hpp"

namespace twinkle::sim {

using kind = mishap::kind;

story::moment& story::moment::add(mishap what) {
  what.at = at_;
  of_.how_.mishaps.push_back(std::move(what));
  return *this;
}

std::string story::moment::node(std::size_t index) const {
  const std::size_t count = of_.how_.cluster ? of_.how_.cluster->nodes.size() : 1;
  if (!of_.how_.cluster || index >= count)
    throw error("there is no node " + std::to_string(index) + " to which anything could happen: say nodes(…) first; "
                "there are " + std::to_string(count));
  return of_.how_.cluster->nodes[index].name;
}

story::moment& story::moment::crash(std::string stage, std::size_t worker, duration lasts) {
  return add({.what = kind::dies, .stage = std::move(stage), .worker = worker, .lasts = lasts});
}

story::moment& story::moment::crash_node(std::size_t index, duration lasts) {
  return add({.what = kind::node_dies, .node = node(index), .lasts = lasts});
}

story::moment& story::moment::cut(std::vector<std::size_t> nodes, duration lasts) {
  const std::size_t before = of_.how_.mishaps.size();
  for (const std::size_t inside : nodes) {
    const std::string name = node(inside);
    for (std::size_t outside = 0; outside < of_.how_.cluster->nodes.size(); ++outside)
      if (std::find(nodes.begin(), nodes.end(), outside) == nodes.end())
        add({.what = kind::cut, .node = name, .other = node(outside), .lasts = lasts});
  }
  if (of_.how_.mishaps.size() == before)
    throw error("cut names " + std::to_string(nodes.size()) + " of " +
                std::to_string(of_.how_.cluster ? of_.how_.cluster->nodes.size() : 1) +
                " nodes, so that nobody is cut off from anybody");
  return *this;
}

story::moment& story::moment::cut_between(std::size_t index, std::size_t other, duration lasts) {
  return add({.what = kind::cut, .node = node(index), .other = node(other), .lasts = lasts});
}

story::moment& story::moment::freeze(std::size_t index, duration lasts) {
  return add({.what = kind::node_freezes, .node = node(index), .lasts = lasts});
}

story::moment& story::moment::slow(std::string stage, std::size_t worker, double factor, duration lasts) {
  return add({.what = kind::slows, .stage = std::move(stage), .worker = worker, .factor = factor, .lasts = lasts});
}

story::moment& story::moment::drag(std::string stage, std::size_t worker, duration lasts) {
  return add({.what = kind::drags, .stage = std::move(stage), .worker = worker, .lasts = lasts});
}

story::moment& story::moment::fail(std::string stage, std::size_t worker) {
  return add({.what = kind::throws, .stage = std::move(stage), .worker = worker});
}

story::moment& story::moment::hang(std::string stage, std::size_t worker) {
  return add({.what = kind::hangs, .stage = std::move(stage), .worker = worker});
}

story::moment& story::moment::stall(std::string stage, duration lasts) {
  return add({.what = kind::stalls, .stage = std::move(stage), .lasts = lasts});
}

story::moment& story::moment::late_weights(std::string stage, duration lasts) {
  return add({.what = kind::late_weights, .stage = std::move(stage), .lasts = lasts});
}

}  // namespace twinkle::sim
