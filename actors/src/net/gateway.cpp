// SPDX-License-Identifier: Apache-2.0
#include "gateway.hpp"

#include <utility>

#include "twinkle/base/error.hpp"
#include "twinkle/flow/message_wire.hpp"

namespace twinkle::net {

namespace letter = place::letter;
using place::membership;

namespace {

bool is_of_a_stage(const address& who, const place::layout& placed) {
  return who.stage >= 0 && static_cast<std::size_t>(who.stage) < placed.stages.size();
}

const worker_place* place_of(const address& who, const place::layout& placed) {
  if (!is_of_a_stage(who, placed) || who.index < 0)
    return nullptr;
  const std::vector<worker_place>& workers = placed.stages[static_cast<std::size_t>(who.stage)].workers;
  return static_cast<std::size_t>(who.index) < workers.size() ? &workers[static_cast<std::size_t>(who.index)] : nullptr;
}

// Whoever has missed one has other weights than its rows say.
bool is_load(const message& content, const address& to, const place::layout& placed) {
  const auto* task = std::get_if<msg::task>(&content);
  return task != nullptr && task->what == msg::task::kind::run &&
         placed.stages[static_cast<std::size_t>(to.stage)].endpoints[task->endpoint].kind == blueprint::role::load;
}

// What a worker reads of the weights that it is to load.
shard_rule shards_in(const message& content, const address& to, const place::layout& placed) {
  if (!is_load(content, to, placed))
    return nullptr;
  const stage_plan& stage = placed.stages[static_cast<std::size_t>(to.stage)];
  const auto& shards = stage.endpoints[std::get<msg::task>(content).endpoint].shards;
  return shards ? shards_for(*shards, stage.workers[static_cast<std::size_t>(to.index)]) : nullptr;
}

}  // namespace

gateway::gateway(gateway_options how, const place::layout& placed, gateway_world& world, gateway_events to)
    : how_(std::move(how)),
      placed_(placed),
      world_(world),
      to_(std::move(to)),
      ledger_(world),
      porter_(world, how_.node,
              [this](const address& to_whom, const message& content) { return shards_in(content, to_whom, placed_); },
              [this](const address& to_whom, message&& content, const std::string& why) {
                const bool fit = !is_load(content, to_whom, placed_);
                fail(to_whom, std::move(content), "what it needs cannot be fetched: " + why);
                return fit;
              }),
      leader_pulse_(how_.rhythm, world.now()) {
  for (const place::cluster::node& each : how_.machines.nodes)
    servers_.push_back({each.name, each.host, 0, 0});
  servers_[how_.node].host = how_.host;
  servers_[how_.node].port = how_.port;
  servers_[how_.node].incarnation = how_.incarnation;
  if (leads())
    members_.emplace(membership::terms{how_.machines, how_.graph, how_.join_within, how_.rhythm}, world.now());
  world_.know(servers_);
}

std::size_t gateway::node_of(const address& who) const {
  const worker_place* place = place_of(who, placed_);
  return place == nullptr ? 0 : place->node;
}

std::optional<std::uint64_t> gateway::peer_of(std::size_t node) const {
  const std::lock_guard lock(mutex_);
  if (closed_)
    return std::nullopt;
  return members_ ? members_->peer_of(node) : leader_;
}

bool gateway::is_lost(const address& worker) const {
  const std::lock_guard lock(mutex_);
  return lost_.contains(worker);
}

void gateway::send(std::uint64_t peer, const place::node_letter& what) { world_.send(peer, place::to_bytes(what)); }

bool gateway::concerns(const address& to, const message& content) const {
  return is_read(content) || to == address::session() || node_of(to) != here();
}

void gateway::post(const address& from, const address& to, message&& content) {
  if (std::holds_alternative<msg::abandon>(content))
    ledger_.gone(to);
  const std::size_t there = node_of(to);
  if (there == here())
    return porter_.bring(from, to, std::move(content));
  const std::optional<std::uint64_t> peer = peer_of(there);
  if (!peer || is_lost(to))
    return;
  std::vector<std::uint64_t> kept;
  try {
    kept = leave_rows(to, content);
    if (is_lost(to))  // meanwhile: whoever found it out may not have seen these
      return ledger_.gone(to);
    const auto stage = static_cast<std::size_t>(to.stage);
    send(*peer, letter::post{from, to, buffer::of(to_bytes(to_wire(content, placed_.stages[stage].endpoints)))});
  } catch (const error& wrong) {
    if (const auto* task = std::get_if<msg::task>(&content))
      ledger_.answered(to, task->call);
    else
      for (const std::uint64_t key : kept)
        world_.release(key);
    fail(to, std::move(content), std::string("it cannot be sent to another node: ") + wrong.what());
  }
}

// Many bytes stay here until somebody fetches them.
std::vector<std::uint64_t> gateway::leave_rows(const address& to, message& content) {
  std::size_t bytes = 0;
  for (const auto& each : values_carried(content))
    bytes += std::visit([](const auto* value) { return bytes_to_leave(*value); }, each);
  std::vector<std::uint64_t> keys;
  if (bytes <= how_.inline_bytes_max)
    return keys;
  const auto keep = [&](const buffer& kept) {
    keys.push_back(world_.keep(kept));
    return buffer{std::make_shared<const far_bytes>(here(), keys.back()), 0, kept.bytes()};
  };
  for (const auto& each : values_carried(content))
    std::visit([&](auto* value) { *value = leave_behind(*value, keep); }, each);
  if (const auto* task = std::get_if<msg::task>(&content))
    ledger_.note(to, task->call, keys);
  return keys;
}

void gateway::fail(const address& to, message&& content, const std::string& cause) {
  if (to == address::session())
    return;  // weights that were to be kept; a run that needed them for more has failed already
  envelope instead = fault_instead(to, std::move(content), cause);
  address from = to;
  if (const auto* reply = std::get_if<msg::reply>(&instead.content))
    from = address::worker(static_cast<std::size_t>(to.stage), reply->worker);
  if (node_of(instead.to) == here())
    world_.deliver(from, instead.to, std::move(instead.content));
  else
    post(from, instead.to, std::move(instead.content));
}

void gateway::spawn(const address& worker) {
  const std::size_t there = node_of(worker);
  if (there == here())
    return porter_.forget(worker);
  ledger_.gone(worker);
  {
    const std::lock_guard lock(mutex_);
    lost_.erase(worker);
  }
  if (const auto peer = peer_of(there))
    send(*peer, letter::spawn{worker});
}

void gateway::interrupt() {
  if (const auto peer = peer_of(0); peer && !leads())
    send(*peer, letter::interrupt{});
  else if (to_.interrupt)
    to_.interrupt();
}

void gateway::say_goodbye(int code) {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  for (std::size_t node = 1; node < servers_.size(); ++node)
    if (const auto peer = peer_of(node))
      send(*peer, letter::goodbye{code});
}

std::shared_ptr<const far_bytes> gateway::own(const far_bytes& where) {
  if (where.node >= servers_.size())
    throw error("rows are said to lie on node " + std::to_string(where.node) + " of " + std::to_string(servers_.size()));
  if (!leads())
    return std::make_shared<const far_bytes>(where);
  std::uint64_t incarnation = 0;
  {
    const std::lock_guard lock(mutex_);
    incarnation = servers_[where.node].incarnation;
  }
  return {new far_bytes(where), [this, incarnation](const far_bytes* gone) {
            const far_bytes which = *gone;
            delete gone;
            std::optional<std::uint64_t> peer;
            {
              const std::lock_guard lock(mutex_);
              if (!closed_ && servers_[which.node].incarnation == incarnation)
                peer = members_->peer_of(which.node);
            }
            if (peer)
              send(*peer, letter::release{{which.key}});
          }};
}

message gateway::read(const letter::post& what, std::size_t from_node) {
  const address& worker = leads() ? what.from : what.to;
  const worker_place* place = place_of(worker, placed_);
  const std::size_t where = leads() ? from_node : here();
  const address& other = leads() ? what.to : what.from;
  if (place == nullptr || place->node != where || other != address::router(static_cast<std::size_t>(worker.stage)))
    throw error("a message from " + std::to_string(what.from.stage) + "/" + std::to_string(what.from.index) + " to " +
                std::to_string(what.to.stage) + "/" + std::to_string(what.to.index) + ", which do not talk over it");
  const auto stage = static_cast<std::size_t>(worker.stage);
  message content =
      message_from_wire(from_bytes(what.bytes, {}, [this](far_bytes of) { return own(of); }), placed_.stages[stage].endpoints);
  const auto* reply = std::get_if<msg::reply>(&content);
  const auto* some = std::get_if<msg::emitted>(&content);
  if (leads() ? (reply == nullptr || reply->worker != place->index) && (some == nullptr || some->worker != place->index)
              : reply != nullptr || some != nullptr)
    throw error("a message of a kind that does not go this way, or in the name of another worker than " + place->name);
  return content;
}

void gateway::on(std::uint64_t peer, const letter::post& what) {
  std::optional<std::size_t> from = 0;
  if (leads()) {
    const std::lock_guard lock(mutex_);
    from = members_->node_of(peer);
  }
  if (!from)
    return;
  message content = read(what, *from);
  if (const auto* reply = std::get_if<msg::reply>(&content))
    ledger_.answered(what.from, reply->call);
  if (std::holds_alternative<msg::cancel>(content) || std::holds_alternative<msg::abandon>(content))
    world_.deliver(what.from, what.to, std::move(content));  // before rows that are still on their way
  else
    porter_.bring(what.from, what.to, std::move(content));
}

envelope gateway::fault_instead(const address& to, message&& content, const std::string& cause) const {
  const auto from_worker = [&](std::size_t worker, route::call_id call, std::string endpoint) {
    const auto stage = static_cast<std::size_t>(to.stage);
    const std::string& place = placed_.stages[stage].workers[worker].name;
    return envelope{address::router(stage), msg::reply{worker, call, fault{place, std::move(endpoint), std::nullopt, cause}}};
  };
  if (const auto* task = std::get_if<msg::task>(&content)) {
    const auto& endpoints = placed_.stages[static_cast<std::size_t>(to.stage)].endpoints;
    return from_worker(static_cast<std::size_t>(to.index), task->call,
                       task->endpoint < endpoints.size() ? endpoints[task->endpoint].name : "");
  }
  if (const auto* reply = std::get_if<msg::reply>(&content))
    return from_worker(reply->worker, reply->call, "");
  if (const auto* some = std::get_if<msg::emitted>(&content))
    return from_worker(some->worker, some->call, "");
  if (const auto* answer = std::get_if<msg::answer>(&content))
    return {to, msg::answer{answer->id, fault{"", "", std::nullopt, cause}}};
  return {to, std::move(content)};
}

}  // namespace twinkle::net
