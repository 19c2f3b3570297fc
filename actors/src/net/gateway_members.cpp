// SPDX-License-Identifier: Apache-2.0
// What a gateway makes of connections that come and go.
#include <algorithm>
#include <iterator>
#include <utility>

#include "gateway.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle::net {

namespace letter = place::letter;
using place::membership;

namespace {

template <class... Calls>
struct cases : Calls... {
  using Calls::operator()...;
};

}  // namespace

void gateway::carry_out(happened&& then) {
  std::unique_lock lock(mutex_);
  std::move(then.begin(), then.end(), std::back_inserter(to_do_));
  if (std::exchange(doing_, true))
    return;
  while (!to_do_.empty()) {
    const std::function<void()> next = std::move(to_do_.front());
    to_do_.pop_front();
    lock.unlock();
    next();
    lock.lock();
  }
  doing_ = false;
}

void gateway::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  porter_.close();
}

void gateway::up(std::uint64_t peer) {
  happened then;
  {
    const std::lock_guard lock(mutex_);
    if (closed_)
      return;
    if (members_) {
      act(members_->up(peer, world_.now()), then);
    } else {
      leader_ = peer;
      leader_pulse_ = place::pulse{how_.rhythm, world_.now()};
      then.push_back([this, peer] {
        send(peer, letter::hello{letter::protocol, how_.machines.name, how_.graph,
                                 how_.machines.nodes[how_.node].name, how_.incarnation, how_.host, how_.port});
      });
    }
  }
  carry_out(std::move(then));
}

void gateway::arrived(std::uint64_t peer, std::vector<std::byte> bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_)
      return;
    if (members_)
      members_->heard(peer, world_.now());
    else
      leader_pulse_.heard(world_.now());
  }
  try {
    handle(peer, place::letter_from_bytes(buffer::of(std::move(bytes))));
  } catch (const error& wrong) {
    distrust(peer, wrong.what());
  }
}

void gateway::distrust(std::uint64_t peer, const std::string& why) {
  if (to_.log)
    to_.log("a peer is closed, since it sent what it may not: " + why);
  world_.close(peer);
  down(peer, "it sent what it may not: " + why);
}

void gateway::handle(std::uint64_t peer, const place::node_letter& what) {
  std::visit(cases{[&](const letter::hello& who) {
                     happened then;
                     if (members_) {
                       const std::lock_guard lock(mutex_);
                       act(members_->hello(peer, who, world_.now()), then);
                     }
                     carry_out(std::move(then));
                   },
                   [&](const letter::post& of) { on(peer, of); },
                   [&](const letter::release& of) {
                     if (!leads())
                       for (const std::uint64_t key : of.keys)
                         world_.release(key);
                   },
                   [&](const letter::spawn& of) {
                     if (leads() || node_of(of.who) != here())
                       throw error("a worker that is not of this node is to be there");
                     porter_.forget(of.who);
                     to_.spawn(of.who);
                   },
                   [&](const letter::nodes& all) {
                     if (!leads())
                       follow(all);
                   },
                   [&](const letter::refused& of) {
                     if (leads())
                       return;
                     {
                       const std::lock_guard lock(mutex_);
                       over_ = true;
                     }
                     to_.failed("'" + how_.machines.nodes.front().name + "' turned this node away: " + of.why);
                   },
                   [&](const letter::goodbye& of) {
                     if (leads())
                       return;
                     {
                       const std::lock_guard lock(mutex_);
                       over_ = true;
                     }
                     to_.goodbye(of.code);
                   },
                   [&](const letter::unreachable& of) {
                     happened then;
                     {
                       const std::lock_guard lock(mutex_);
                       if (is_member(peer))
                         act(members_->unreachable(of.node, of.incarnation, of.why), then);
                     }
                     carry_out(std::move(then));
                   },
                   [&](const letter::interrupt&) {
                     {
                       const std::lock_guard lock(mutex_);
                       if (!is_member(peer))
                         return;
                     }
                     if (to_.interrupt)
                       to_.interrupt();
                   },
                   [](const letter::ping&) {}},
             what);
}

// Of those who are strangers, or are lost, nothing counts any more.
bool gateway::is_member(std::uint64_t peer) const { return members_ && members_->node_of(peer); }

void gateway::follow(const letter::nodes& all) {
  if (all.all.size() != servers_.size())
    throw error(std::to_string(all.all.size()) + " nodes in a cluster of " + std::to_string(servers_.size()));
  bool first = false;
  std::vector<bulk_peer> known;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t node = 0; node < servers_.size(); ++node)
      if (node != here())
        servers_[node] = {servers_[node].name, all.all[node].host, all.all[node].port, all.all[node].incarnation};
    known = servers_;
    first = !std::exchange(taken_, true);
  }
  world_.know(std::move(known));
  if (first)
    to_.complete();
}

void gateway::act(std::vector<membership::event> events, happened& then) {
  for (membership::event& each : events)
    std::visit(cases{[&](const membership::joined& who) { on_joined(who, then); },
                     [&](const membership::lost& of) { on_lost(of.node, of.why, then); },
                     [&](membership::say& of) {
                       then.push_back([this, said = std::move(of)] { send(said.peer, said.what); });
                     },
                     [&](const membership::close& of) { then.push_back([this, peer = of.peer] { world_.close(peer); }); },
                     [&](const membership::incomplete& of) {
                       over_ = true;
                       then.push_back([this, why = of.why] { to_.failed(why); });
                     }},
               each);
}

void gateway::tell_where_all_are(happened& then) {
  letter::nodes all;
  for (const bulk_peer& each : servers_)
    all.all.push_back({each.host, each.port, each.incarnation});
  for (std::size_t node = 1; node < servers_.size(); ++node)
    if (const auto peer = members_->peer_of(node))
      then.push_back([this, peer = *peer, all] { send(peer, all); });
  then.push_back([this, known = servers_] { world_.know(known); });
}

void gateway::on_joined(const membership::joined& who, happened& then) {
  bulk_peer& server = servers_[who.node];
  server.host = who.who.host;
  server.port = who.who.port;
  server.incarnation = who.who.incarnation;
  const std::string line = "node '" + server.name + "' on " + server.host + " is there";
  then.push_back([this, line] {
    if (to_.log)
      to_.log(line);
  });
  if (!taken_ && !members_->complete())
    return;
  tell_where_all_are(then);
  if (!std::exchange(taken_, true)) {
    then.push_back([this] { to_.complete(); });
    return;
  }
  for (const stage_plan& stage : placed_.stages)
    for (const worker_place& worker : stage.workers)
      if (worker.node == who.node)
        then.push_back([this, router = address::router(stage.ordinal), index = worker.index] {
          world_.deliver(address::session(), router, msg::back{index});
        });
}

void gateway::on_lost(std::size_t node, const std::string& why, happened& then) {
  bulk_peer& server = servers_[node];
  const std::uint64_t life = far_bytes::life_of(server.incarnation);
  server.incarnation = 0;
  server.port = 0;
  const std::string cause = "node '" + server.name + "' was lost: " + why;
  if (over_)
    return;
  then.push_back([this, cause] {
    if (to_.log)
      to_.log(cause);
  });
  if (taken_)  // whoever hears that a fetch has failed is to know why
    for (const stage_plan& stage : placed_.stages)
      then.push_back([this, ordinal = stage.ordinal, node, life, cause] {
        world_.deliver(address::session(), address::router(ordinal), msg::node_lost{{node, life, cause}});
      });
  then.push_back([this, known = servers_] { world_.know(known); });
  if (!taken_)
    return;
  for (const stage_plan& stage : placed_.stages)
    for (const worker_place& worker : stage.workers)
      if (worker.node == node) {
        lost_.insert(address::worker(stage.ordinal, worker.index));
        then.push_back([this, ordinal = stage.ordinal, index = worker.index, cause] {
          ledger_.gone(address::worker(ordinal, index));
          world_.deliver(address::session(), address::router(ordinal), msg::lost{index, cause});
        });
      }
}

void gateway::down(std::uint64_t peer, const std::string& why) {
  happened then;
  {
    const std::lock_guard lock(mutex_);
    if (closed_)
      return;
    if (members_) {
      act(members_->down(peer, why), then);
    } else if (leader_ == peer) {
      leader_.reset();
      if (taken_ && !over_)
        then.push_back([this, why] {
          to_.failed("'" + how_.machines.nodes.front().name + "', which leads the run, was lost: " + why);
        });
    }
  }
  carry_out(std::move(then));
}

void gateway::silent(std::size_t node, std::uint64_t incarnation, const std::string& why) {
  happened then;
  std::optional<std::uint64_t> leader;
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || node == here() || node >= servers_.size() || over_)
      return;
    if (members_)
      act(members_->unreachable(node, incarnation, why), then);
    else
      leader = leader_;
  }
  carry_out(std::move(then));
  if (leader && node == 0)
    down(*leader, why);
  else if (leader)
    send(*leader, letter::unreachable{static_cast<std::uint32_t>(node), incarnation,
                                      "'" + how_.machines.nodes[here()].name + "' cannot reach it: " + why});
}

void gateway::tick() {
  happened then;
  {
    const std::lock_guard lock(mutex_);
    if (closed_)
      return;
    const time_point now = world_.now();
    if (members_) {
      act(members_->tick(now), then);
    } else if (leader_) {
      const std::uint64_t peer = *leader_;
      if (leader_pulse_.silent(now))
        then.push_back([this, peer, why = leader_pulse_.why_silent()] {
          world_.close(peer);
          down(peer, why);
        });
      else if (leader_pulse_.beat(now))
        then.push_back([this, peer] { send(peer, letter::ping{}); });
    }
  }
  carry_out(std::move(then));
}

time_point gateway::next_deadline() const {
  const std::lock_guard lock(mutex_);
  if (members_)
    return members_->next_deadline();
  return leader_ ? leader_pulse_.next() : time_point::max();
}

bool gateway::awaits_leader() const {
  const std::lock_guard lock(mutex_);
  return !members_ && !leader_ && !taken_ && !over_ && !closed_;
}

std::size_t gateway::peers() const {
  std::size_t count = 0;
  for (std::size_t node = 0; node < servers_.size(); ++node)
    count += node != here() && (leads() || node == 0) && peer_of(node) ? 1 : 0;
  return count;
}

}  // namespace twinkle::net
