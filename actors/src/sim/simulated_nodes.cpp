// SPDX-License-Identifier: Apache-2.0
#include "simulated_nodes.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "simulated_process.hpp"

namespace twinkle::sim {
namespace {

constexpr duration start_takes = std::chrono::milliseconds(1);  // of a process

}  // namespace

simulated_nodes::simulated_nodes(world& in, chooser_seam& chooser, const place::layout& placed, circumstances how)
    : in_(in),
      chooser_(chooser),
      placed_(placed),
      how_(std::move(how)),
      processes_(placed.machines.nodes.size()),
      deaths_(processes_.size(), 0),
      fetched_(processes_.size(), 0) {
  in_.connect(this);
  for (std::size_t node = 0; node < processes_.size(); ++node)
    start(node);
  in_.run([this] { return complete_; }, in_.now(), std::numeric_limits<std::size_t>::max());
}

simulated_nodes::~simulated_nodes() {
  in_.dismiss_all();
  for (std::size_t node = processes_.size(); node-- > 0;)
    processes_[node].reset();
}

std::shared_ptr<runtime::stage_kit> simulated_nodes::kit(const stage_plan& stage) { return processes_[0]->kit(stage); }

void simulated_nodes::post(const address& from, const address& to, message&& content) {
  process* const of = processes_[in_.where().node_of(from)].get();
  if (of == nullptr)
    return;
  if (of->way().concerns(to, content))
    of->way().post(from, to, std::move(content));
  else
    in_.arrive(from, to, std::move(content));
}

void simulated_nodes::spawn(const address& who) { processes_[0]->way().spawn(who); }

simulated_nodes::process* simulated_nodes::find(std::size_t node, std::uint64_t incarnation) const {
  process* const there = processes_[node].get();
  return there != nullptr && there->incarnation() == incarnation ? there : nullptr;
}

duration simulated_nodes::latency() {
  constexpr std::size_t steps = 16;
  const duration spread = how_.links.latency_max - how_.links.latency_min;
  if (spread <= duration{0})
    return how_.links.latency_min;
  return how_.links.latency_min + spread * static_cast<duration::rep>(chooser_.choose(steps + 1)) / steps;
}

void simulated_nodes::travel(const way& along, std::function<void()> what) {
  wires_[along].on.send(std::move(what), in_.now(), complete_ ? latency() : duration{0});
  await_arrival(along);
}

void simulated_nodes::await_arrival(const way& along) {
  wire& of = wires_[along];
  const auto next = of.on.next();
  if (!next || of.awaited)
    return;
  of.awaited = true;
  in_.at(std::max(*next, in_.now()), [this, along] {
    wire& arrived = wires_[along];
    arrived.awaited = false;
    while (auto what = arrived.on.take(in_.now()))
      in_.on(along.to, std::move(*what));
    await_arrival(along);
  });
}

std::array<simulated_nodes::way, 4> simulated_nodes::ways_between(std::size_t node, std::size_t other) {
  return {way{node, other, plane::control}, way{other, node, plane::control}, way{node, other, plane::bulk},
          way{other, node, plane::bulk}};
}

void simulated_nodes::cut(std::size_t node, std::size_t other) {
  for (const way& each : ways_between(node, other))
    wires_[each].on.cut();
}

void simulated_nodes::heal(std::size_t node, std::size_t other) {
  for (const way& each : ways_between(node, other)) {
    wires_[each].on.heal(in_.now());
    await_arrival(each);
  }
}

// A process begins, and calls the one that leads.
void simulated_nodes::start(std::size_t node) {
  const std::uint64_t of = ++last_incarnation_;
  processes_[node] = std::make_unique<process>(*this, node, of);
  if (node == 0)
    return;
  travel({node, 0, plane::control}, [this, peer = ++last_peer_, node, of] {
    processes_[0]->up(peer, node);
    travel({0, node, plane::control}, [this, peer, node, of] {
      if (process* const there = find(node, of))
        there->up(peer, 0);
    });
  });
}

void simulated_nodes::kill_workers(std::size_t node) {
  for (const stage_plan& stage : placed_.stages)
    for (const worker_place& each : stage.workers)
      if (each.node == node)
        in_.kill(address::worker(stage.ordinal, each.index));
}

void simulated_nodes::end(std::size_t node) {
  kill_workers(node);
  processes_[node].reset();
}

void simulated_nodes::die(std::size_t node) {
  for (auto& [along, wire] : wires_)
    if (along.from == node || along.to == node)
      wire.on.forget();
  ++deaths_[node];
  end(node);
}

void simulated_nodes::revive(std::size_t node) {
  if (--deaths_[node] == 0)
    start(node);
}

void simulated_nodes::begin_again(std::size_t node, std::uint64_t incarnation) {
  in_.at(in_.now(), [this, node, incarnation] {
    process* const of = find(node, incarnation);
    if (of == nullptr)
      return;
    of->hang_up();
    end(node);
    in_.at(in_.now() + start_takes, [this, node] {
      if (!running(node) && deaths_[node] == 0)
        start(node);
    });
  });
}

std::size_t simulated_nodes::bytes_kept() const {
  std::size_t all = 0;
  for (const auto& each : processes_)
    all += each ? each->store().bytes() : 0;
  return all;
}

std::vector<std::string> simulated_nodes::keepers() const {
  std::vector<std::string> found;
  for (std::size_t node = 0; node < processes_.size(); ++node) {
    const auto cut_off = [&](const auto& each) {
      return (each.first.from == node || each.first.to == node) && each.second.on.is_cut();
    };
    if (!running(node) || in_.frozen(node) || std::any_of(wires_.begin(), wires_.end(), cut_off))
      continue;
    if (const std::size_t bytes = processes_[node]->store().bytes(); processes_[node]->store().pieces() > 0)
      found.push_back("node '" + placed_.machines.nodes[node].name + "' keeps " + std::to_string(bytes) + " bytes");
  }
  return found;
}

duration simulated_nodes::settles_within() const { return 4 * how_.links.latency_max + start_takes; }

}  // namespace twinkle::sim
