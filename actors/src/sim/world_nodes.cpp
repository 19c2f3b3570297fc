// SPDX-License-Identifier: Apache-2.0
// What is between nodes, and what becomes of it and of them.
#include <algorithm>
#include <memory>
#include <utility>

#include "world.hpp"

namespace twinkle::sim {

void world::post(const address& from, const address& to, message&& content) {
  if (muted_)
    return;
  if (const auto late = late_.find(static_cast<std::size_t>(to.stage));
      late != late_.end() && late->second > now_ && std::holds_alternative<msg::published>(content)) {
    at(late->second, [this, from, to, held = std::make_shared<message>(std::move(content))] {
      arrive(from, to, std::move(*held));
    });
    return;
  }
  const ends between{where_.node_of(from), where_.node_of(to)};
  if (between.first == between.second) {
    arrive(from, to, std::move(content));
    return;
  }
  wires_[between].on.send(from, {to, std::move(content)}, now_, latency());
  await_arrival(between);
}

duration world::latency() {
  constexpr std::size_t steps = 16;
  const duration spread = where_.links.latency_max - where_.links.latency_min;
  if (spread <= duration{0})
    return where_.links.latency_min;
  return where_.links.latency_min + spread * static_cast<duration::rep>(chooser_.choose(steps + 1)) / steps;
}

void world::arrive(const address& from, const address& to, message&& content) {
  link& on = links_.try_emplace({from, to}, link{from, to}).first->second;
  on.waiting.push_back(std::move(content));
  if (on.waiting.size() == 1)
    offer(on);
}

void world::await_arrival(const ends& between) {
  wire& of = wires_[between];
  const auto next = of.on.next();
  if (!next || of.awaited)
    return;
  of.awaited = true;
  timers_.emplace(std::max(*next, now_), [this, between] {
    wire& arrived = wires_[between];
    arrived.awaited = false;
    while (auto parcel = arrived.on.take(now_))
      arrive(parcel->from, parcel->what.to, std::move(parcel->what.content));
    await_arrival(between);
  });
}

void world::cut(std::size_t node, std::size_t other) {
  for (const ends& between : {ends{node, other}, ends{other, node}})
    wires_[between].on.cut();
}

void world::heal(std::size_t node, std::size_t other) {
  for (const ends& between : {ends{node, other}, ends{other, node}}) {
    wires_[between].on.heal(now_);
    await_arrival(between);
  }
}

void world::forget_what_travels(std::size_t node) {
  for (auto& [between, wire] : wires_)
    if (between.first == node || between.second == node)
      wire.on.forget();
}

std::vector<observer::in_flight> world::undelivered() const {
  std::vector<observer::in_flight> all;
  for (const auto* among : {&loaded_, &held_back_})
    for (const link* each : *among)
      for (const message& content : each->waiting)
        all.push_back({each->from, each->to, &content});
  for (const auto& [between, wire] : wires_)
    for (const connection::parcel& each : wire.on.parcels())
      all.push_back({each.from, each.what.to, &each.what.content});
  return all;
}

void world::delay_weights(std::size_t stage, time_point when) { late_[stage] = std::max(late_[stage], when); }

}  // namespace twinkle::sim
