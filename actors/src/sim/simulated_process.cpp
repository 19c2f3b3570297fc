// SPDX-License-Identifier: Apache-2.0
#include "simulated_process.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "twinkle/base/error.hpp"
#include "twinkle/data/frame.hpp"

namespace twinkle::sim {

simulated_nodes::process::process(simulated_nodes& all, std::size_t node, std::uint64_t incarnation)
    : all_(all),
      node_(node),
      incarnation_(incarnation),
      store_(incarnation),
      halls_(all.placed_, node,
             [this](std::size_t other, std::vector<std::byte> head, buffer body) {
               const std::uint64_t to = known_[other];
               all_.travel({node_, other, plane::bulk},
                           [&in = all_, other, to, from = node_, sent = std::move(head), body] {
                             if (process* const there = in.find(other, to))
                               there->letter_arrived(from, sent, body);
                           });
             }),
      known_(all.placed_.machines.nodes.size(), 0),
      way_(options(), all.placed_, *this, events()) {
  arm();
}

simulated_nodes::process::~process() {
  way_.close();
  fetches_.clear();  // what they are for may be of the gateway
}

net::gateway_options simulated_nodes::process::options() const {
  net::gateway_options how;
  how.machines = all_.placed_.machines;
  how.node = node_;
  how.incarnation = incarnation_;
  how.rhythm = place::pulse::rhythm::of(all_.how_.links.patience);
  how.inline_bytes_max = all_.how_.links.inline_bytes_max;
  return how;
}

net::gateway_events simulated_nodes::process::events() {
  net::gateway_events to;
  to.complete = [this] { all_.complete_ = all_.complete_ || node_ == 0; };
  to.failed = [this](const std::string&) { all_.begin_again(node_, incarnation_); };
  to.goodbye = [](int) {};
  to.spawn = [this](const address& who) { spawn_worker(who); };
  return to;
}

std::shared_ptr<runtime::stage_kit> simulated_nodes::process::kit(const stage_plan& stage) {
  std::shared_ptr<runtime::stage_kit>& of = kits_[stage.ordinal];
  if (!of)
    of = halls_.make_kit(stage, all_.how_.run_seed);
  return of;
}

void simulated_nodes::process::spawn_worker(const address& who) {
  const stage_plan& stage = all_.placed_.stages[static_cast<std::size_t>(who.stage)];
  all_.in_.house(who, all_.how_.make(kit(stage), static_cast<std::size_t>(who.index)));
}

void simulated_nodes::process::later(duration wait, std::function<void(process&)> what) {
  all_.in_.at(all_.in_.now() + wait, [&in = all_, node = node_, incarnation = incarnation_, what = std::move(what)] {
    in.in_.on(node, [&in, node, incarnation, what] {
      if (process* const still = in.find(node, incarnation))
        what(*still);
    });
  });
}

// Its gateway wants to hear of the time.
void simulated_nodes::process::arm() {
  const time_point next = way_.next_deadline();
  if (next == time_point::max() || (armed_ && *armed_ <= next))
    return;
  armed_ = next;
  later(std::max(next - now(), duration{0}), [](process& of) {
    of.armed_.reset();
    of.way_.tick();
    of.arm();
  });
}

void simulated_nodes::process::up(std::uint64_t peer, std::size_t other) {
  connections_[peer] = other;
  way_.up(peer);
  arm();
}

void simulated_nodes::process::arrived(std::uint64_t peer, std::vector<std::byte> bytes) {
  if (!connections_.contains(peer))
    return;
  way_.arrived(peer, std::move(bytes));
  arm();
}

void simulated_nodes::process::closed(std::uint64_t peer, const std::string& why) {
  if (connections_.erase(peer) > 0)
    way_.down(peer, why);
}

void simulated_nodes::process::hang_up() {
  while (!connections_.empty())
    close(connections_.begin()->first);
}

void simulated_nodes::process::send(std::uint64_t peer, std::vector<std::byte> bytes) {
  const auto to = connections_.find(peer);
  if (to == connections_.end())
    return;
  all_.travel({node_, to->second, plane::control}, [&in = all_, other = to->second, peer, bytes = std::move(bytes)] {
    if (process* const there = in.processes_[other].get())
      there->arrived(peer, bytes);
  });
}

void simulated_nodes::process::close(std::uint64_t peer) {
  const auto to = connections_.extract(peer);
  if (!to)
    return;
  all_.travel({node_, to.mapped(), plane::control}, [&in = all_, other = to.mapped(), peer] {
    if (process* const there = in.processes_[other].get())
      there->closed(peer, "it was closed by the other side");
  });
}

void simulated_nodes::process::know(std::vector<net::bulk_peer> nodes) {
  for (std::size_t node = 0; node < nodes.size(); ++node)
    known_[node] = nodes[node].incarnation;
  for (const auto& [number, of] : fetches_)
    if (known_[of.node] != of.incarnation)
      later(duration{0}, [number = number](process& here) { here.give_up(number, "is gone"); });
}

void simulated_nodes::process::aside(std::function<void()> what) {
  later(duration{0}, [does = std::move(what)](process&) { does(); });
}

void simulated_nodes::process::fetch(std::size_t node, std::vector<bulk_range> what, std::span<std::byte> into,
                                     std::function<void(std::optional<std::string>)> then) {
  if (what.size() > frame_limits{}.ranges_max)
    throw error(std::to_string(what.size()) + " ranges in one fetch; at most " +
                std::to_string(frame_limits{}.ranges_max) + " may be");
  const std::uint64_t number = ++all_.last_fetch_;
  fetches_[number] = {node, known_[node], into, std::move(then)};
  if (known_[node] == 0)
    return later(duration{0}, [number](process& here) { here.give_up(number, "is gone"); });
  const std::uint64_t of = known_[node];
  all_.travel({node_, node, plane::bulk}, [&in = all_, number, node, of, from = node_, what = std::move(what)] {
    const process* const there = in.find(node, of);
    std::optional<content> found;
    if (there != nullptr)
      found = there->look_up(what);
    else if (!in.running(node))
      return;  // nobody answers
    in.travel({node, from, plane::bulk}, [&in, number, from, found] {
      if (process* const asked = in.processes_[from].get())
        asked->fetched(number, found);
    });
  });
  later(all_.how_.links.patience, [number, node, of](process& here) {
    if (!here.fetches_.contains(number))
      return;
    here.way_.silent(node, of, "nothing came from it for " + place::in_seconds(here.all_.how_.links.patience));
    here.give_up(number, "does not answer");
  });
}

std::optional<simulated_nodes::process::content> simulated_nodes::process::look_up(
    const std::vector<bulk_range>& what) const {
  content all;
  for (const bulk_range& range : what) {
    const std::optional<buffer> kept = store_.find(range.key);
    if (!kept || range.first > kept->bytes() || range.bytes > kept->bytes() - range.first)
      return std::nullopt;
    all.push_back(kept->part(range.first, range.bytes));
  }
  return all;
}

void simulated_nodes::process::fetched(std::uint64_t number, const std::optional<content>& found) {
  const auto of = fetches_.find(number);
  if (of == fetches_.end())
    return;
  if (!found)
    return give_up(number, "does not keep them");
  const fetch_under_way done = std::move(fetches_.extract(of).mapped());
  all_.fetched_[node_] += done.into.size();
  std::byte* into = done.into.data();
  for (const buffer& each : *found) {
    std::memcpy(into, each.data(), each.bytes());
    into += each.bytes();
  }
  done.then(std::nullopt);
}

void simulated_nodes::process::give_up(std::uint64_t number, const std::string& why) {
  if (const auto of = fetches_.extract(number))
    of.mapped().then("node '" + all_.placed_.machines.nodes[of.mapped().node].name + "' " + why);
}

}  // namespace twinkle::sim
