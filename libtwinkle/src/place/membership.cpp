// SPDX-License-Identifier: Apache-2.0
#include "twinkle/place/membership.hpp"

#include <algorithm>
#include <utility>

#include "twinkle/base/list.hpp"

namespace twinkle::place {
namespace {

constexpr std::size_t strangers_max = 64;

}  // namespace

membership::membership(terms agreed, time_point now)
    : agreed_(std::move(agreed)), join_by_(now + agreed_.join_within), members_(agreed_.machines.nodes.size()) {}

std::vector<membership::event> membership::up(std::uint64_t peer, time_point now) {
  peers_.try_emplace(peer, connection{pulse{agreed_.rhythm, now}});
  const auto is_stranger = [](const auto& of) { return !of.second.node; };
  const auto oldest = std::find_if(peers_.begin(), peers_.end(), is_stranger);
  const auto strangers = static_cast<std::size_t>(std::count_if(oldest, peers_.end(), is_stranger));
  if (strangers <= strangers_max + members_.size())
    return {};
  const std::uint64_t leaves = oldest->first;
  peers_.erase(oldest);
  return {close{leaves}};
}

std::optional<std::string> membership::objection(const letter::hello& who, std::optional<std::size_t> node) const {
  if (over_)
    return over_;
  const std::string leader = agreed_.machines.nodes.front().name;
  if (who.version != letter::protocol)
    return "it speaks version " + std::to_string(who.version) + " of the protocol, and '" + leader + "' speaks " +
           std::to_string(letter::protocol) + "; start the same binary on every node";
  if (who.cluster != agreed_.machines.name)
    return "it belongs to the cluster '" + who.cluster + "', and '" + leader + "' to '" + agreed_.machines.name +
           "'; give every node the same cluster file";
  if (!node)
    return "the cluster has no node '" + who.node + "'; it has " + list(names(agreed_.machines));
  if (*node == 0)
    return "'" + who.node + "' leads, and is there already; start it once";
  if (who.graph != agreed_.graph)
    return "its graph is not that of '" + leader + "'; start the same binary with the same options and the same cluster "
           "file on every node";
  if (members_[*node].peer && members_[*node].incarnation == who.incarnation)
    return "'" + who.node + "' is there already";
  return std::nullopt;
}

std::vector<membership::event> membership::hello(std::uint64_t peer, const letter::hello& who, time_point now) {
  const auto from = peers_.find(peer);
  if (from == peers_.end() || from->second.node || from->second.refused)
    return {};
  from->second.alive.heard(now);
  const std::optional<std::size_t> node = find(agreed_.machines, who.node);
  if (const auto why = objection(who, node)) {
    if (node)
      members_[*node].refused = *why;
    from->second.refused = true;  // it goes by itself when it has heard, or is closed when it is silent
    return {say{peer, letter::refused{*why}}};
  }
  std::vector<event> out;
  if (members_[*node].peer)
    lose(*node, "its process was started again", out);
  members_[*node] = {peer, who.incarnation};
  from->second.node = node;
  out.emplace_back(joined{*node, peer, who});
  was_complete_ = was_complete_ || complete();
  return out;
}

void membership::lose(std::size_t node, const std::string& why, std::vector<event>& out) {
  const std::uint64_t peer = *std::exchange(members_[node].peer, std::nullopt);
  peers_.erase(peer);
  out.emplace_back(lost{node, why});
  out.emplace_back(close{peer});
}

std::vector<membership::event> membership::down(std::uint64_t peer, const std::string& why) {
  std::vector<event> out;
  if (const auto node = node_of(peer))
    lose(*node, why, out);
  peers_.erase(peer);
  return out;
}

std::vector<membership::event> membership::unreachable(std::size_t node, std::uint64_t incarnation,
                                                       const std::string& why) {
  std::vector<event> out;
  if (node < members_.size() && members_[node].peer && members_[node].incarnation == incarnation)
    lose(node, why, out);
  return out;
}

void membership::heard(std::uint64_t peer, time_point now) {
  if (const auto from = peers_.find(peer); from != peers_.end() && from->second.node)
    from->second.alive.heard(now);
}

std::vector<membership::event> membership::tick(time_point now) {
  std::vector<event> out;
  std::vector<std::uint64_t> silent;
  for (auto& [peer, of] : peers_)
    if (of.alive.silent(now))
      silent.push_back(peer);
    else if (of.node && of.alive.beat(now))
      out.emplace_back(say{peer, letter::ping{}});
  for (const std::uint64_t peer : silent)
    if (const auto node = node_of(peer)) {
      lose(*node, peers_.at(peer).alive.why_silent(), out);
    } else {
      peers_.erase(peer);
      out.emplace_back(close{peer});
    }
  if (!was_complete_ && !complete() && now >= join_by_) {
    was_complete_ = true;  // it is said once
    const std::string why = missing();
    over_ = why;
    for (const member& each : members_)
      if (each.peer)
        out.emplace_back(say{*each.peer, letter::refused{why}});
    out.emplace_back(incomplete{why});
  }
  return out;
}

std::string membership::missing() const {
  std::string text;
  for (std::size_t node = 1; node < members_.size(); ++node) {
    if (members_[node].peer)
      continue;
    const cluster::node& of = agreed_.machines.nodes[node];
    text += "\n  - '" + of.name + "' on " + of.host + ": ";
    text += members_[node].refused.empty() ? "nobody came; start it with --node " + of.name
                                           : "it was turned away, for " + members_[node].refused;
  }
  return "the cluster '" + agreed_.machines.name + "' is not complete after " + in_seconds(agreed_.join_within) + ":" + text;
}

bool membership::complete() const {
  return std::all_of(members_.begin() + 1, members_.end(), [](const member& each) { return each.peer.has_value(); });
}

std::optional<std::size_t> membership::node_of(std::uint64_t peer) const {
  const auto from = peers_.find(peer);
  return from == peers_.end() ? std::nullopt : from->second.node;
}

std::optional<std::uint64_t> membership::peer_of(std::size_t node) const { return members_[node].peer; }

time_point membership::next_deadline() const {
  time_point next = was_complete_ ? time_point::max() : join_by_;
  for (const auto& [peer, of] : peers_)
    next = std::min(next, of.node ? of.alive.next() : of.alive.silent_at());  // nothing is said to strangers
  return next;
}

}  // namespace twinkle::place
