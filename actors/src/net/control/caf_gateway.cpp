// SPDX-License-Identifier: Apache-2.0
#include "caf_gateway.hpp"

#include <algorithm>
#include <caf/error.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <chrono>
#include <set>

#include "caf_sockets.hpp"
#include "twinkle/base/ensure.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle::net::control {
namespace {

constexpr std::chrono::milliseconds between_tries(200);
constexpr std::uint64_t receipt_every_max = std::uint64_t{1} << 20;

/// Looks names up, which may block, on a thread of its own.
class resolver final : public caf::event_based_actor {
 public:
  explicit resolver(caf::actor_config& config) : caf::event_based_actor(config) {}

  caf::behavior make_behavior() override {
    return {[this](const unknown_name& of) {
              looked_up answer{of.where, {}, ""};
              try {
                answer.found = addresses_of(of.where, lookups::names);
              } catch (const error& failed) {
                answer.failure = failed.what();
              }
              send(of.asks, std::move(answer));
            },
            [this](runtime::curtain) { quit(); }};
  }
};

template <class Event, class... Arguments>
void tell(const Event& event, Arguments&&... arguments) {
  if (!event)
    return;
  try {
    event(std::forward<Arguments>(arguments)...);
  } catch (const std::exception& escaped) {
    broken_invariant(std::string("no event of a link lets an exception out: ") + escaped.what(),
                     std::source_location::current());
  }
}

std::string explained(const caf::actor_system& system, const caf::error& why) {
  if (why == caf::sec::incompatible_application_ids)
    return "another version of the protocol";
  return system.render(why);
}

}  // namespace

gateway::gateway(caf::actor_config& config, std::shared_ptr<link_state> state, caf::actor broker,
                 caf::io::network::default_multiplexer& loop, std::shared_ptr<runtime::census> alive)
    : caf::io::broker(config), state_(std::move(state)), broker_(std::move(broker)), loop_(loop),
      alive_(std::move(alive)) {
  alive_->enter();
  // Nobody from outside ends it, or makes it print.
  set_exit_handler([](caf::exit_msg&) {});
  set_default_handler(caf::drop);
}

caf::behavior gateway::make_behavior() {
  return {[this](parcel& each) { take(std::move(each)); },
          [this](const receipt& each) {
            if (const auto from = entries_.find(each.connection); from != entries_.end())
              from->second.on->acknowledge(each.bytes);
          },
          [this](const hello& each) { meet(each); },
          [this](const accepted& each) { enter({.on = each.on}); },
          [this](const gone& each) { forget(each.connection); },
          [this](const wanted& each) { each.still ? want(each.where) : give_up(each.where); },
          [this](const looked_up& each) {
            if (const auto to = targets_.find(each.where); to == targets_.end() || to->second.connection)
              return;
            each.failure.empty() ? call(each.where, each.found) : fail(each.where, each.failure);
          },
          [this](const try_again& each) {
            const auto to = targets_.find(each.where);
            if (to != targets_.end() && to->second.wish == each.wish && !to->second.connection)
              attempt(each.where);
          },
          [this](const overdue& each) {
            const auto late = entries_.find(each.connection);
            if (late != entries_.end() && !late->second.up)
              late->second.on->end("no answer within " + std::to_string(state_->how.up_within.count()) + " s");
          },
          [this](runtime::curtain) { close(); }};
}

bool gateway::cleanup(caf::error&& why, caf::execution_unit* unit) {
  // CAF ends a broker's sockets, but not its mailbox; this one has no sockets. What is in the mailbox would hold the BASP
  // broker, whose mailbox may hold this.
  const bool first = caf::scheduled_actor::cleanup(std::move(why), unit);
  broker_ = nullptr;
  if (alive_)
    std::exchange(alive_, nullptr)->leave();
  return first;
}

void gateway::want(const endpoint& where) {
  if (targets_.try_emplace(where, target{.wish = ++wishes_}).second)
    attempt(where);
}

void gateway::give_up(const endpoint& where) {
  const auto to = targets_.find(where);
  if (to == targets_.end())
    return;
  const std::optional<std::uint64_t> on = to->second.connection;
  targets_.erase(to);
  if (on)
    entries_.at(*on).on->end("given up");
}

void gateway::attempt(const endpoint& where) {
  try {
    if (const std::vector<socket_address> found = addresses_of(where, lookups::numbers_only); !found.empty())
      return call(where, found);
  } catch (const error& failed) {
    return fail(where, failed.what());
  }
  if (!resolver_)
    resolver_ = spawn<resolver, caf::detached + caf::hidden>();
  send(resolver_, unknown_name{where, caf::actor_cast<caf::actor>(this)});
}

void gateway::call(const endpoint& where, const std::vector<socket_address>& found) try {
  target& to = targets_.at(where);
  socket_handle socket = connecting_socket(found[to.tries++ % found.size()]);
  const std::shared_ptr<connection> on = state_->admit(socket.get());
  if (!on)
    return;
  const std::uint64_t number = on->number();
  caf::io::scribe_ptr scribe = make_scribe(loop_, *state_, std::move(socket), on, true);
  to.connection = number;
  enter({.on = on, .calls = where});
  request(broker_, caf::infinite, caf::connect_atom_v, std::move(scribe), where.port)
      .then([this, number](const caf::node_id& node, const caf::strong_actor_ptr& remote,
                           const std::set<std::string>&) { greet(number, node, remote); },
            [this, number](const caf::error& why) {
              const auto there = entries_.find(number);
              if (there != entries_.end() && why != caf::sec::disconnect_during_handshake)
                there->second.refused = explained(system(), why);
            });
} catch (const error& failed) {
  fail(where, failed.what());
}

void gateway::fail(const endpoint& where, const std::string& why) {
  state_->set_failure(where, why);
  if (const auto to = targets_.find(where); to != targets_.end()) {
    to->second.connection.reset();
    delayed_send(this, between_tries, try_again{where, to->second.wish});
  }
}

void gateway::enter(entry each) {
  const std::uint64_t number = each.on->number();
  entries_.emplace(number, std::move(each));
  delayed_send(this, state_->how.up_within, overdue{number});
  const auto is_stranger = [](const auto& of) { return !of.second.up && !of.second.calls && !of.second.on->ended(); };
  const auto oldest = std::find_if(entries_.begin(), entries_.end(), is_stranger);
  const auto strangers = static_cast<std::size_t>(std::count_if(oldest, entries_.end(), is_stranger));
  if (strangers > state_->how.strangers_max)
    oldest->second.on->end("it made room for others that had not greeted");
}

void gateway::greet(std::uint64_t number, const caf::node_id& node, const caf::strong_actor_ptr& remote) {
  const auto there = entries_.find(number);
  if (there == entries_.end())
    return;
  entry& to = there->second;
  for (const auto& [other, each] : entries_)
    if (each.node == node && other != number)
      to.refused = "already connected to this process";
  if (node == system().node())
    to.refused = "this is the process that connects";
  if (!remote)
    to.refused = "another version of the protocol";
  if (!to.refused.empty())
    return to.on->end(to.refused);
  to.node = node;
  to.remote = caf::actor_cast<caf::actor>(remote);
  send(to.remote, hello{state_->how.protocol});
}

void gateway::meet(const hello& from) {
  const auto there = entries_.find(from.connection);
  if (there == entries_.end() || there->second.up)
    return;
  entry& with = there->second;
  if (from.protocol != state_->how.protocol || current_sender() == nullptr)
    return with.on->end("another version of the protocol");
  if (!with.calls) {
    with.node = current_sender()->node();
    with.remote = caf::actor_cast<caf::actor>(current_sender());
    send(with.remote, hello{state_->how.protocol});
    // A process that comes again has lost the connection that it had.
    std::vector<std::uint64_t> lost;
    for (const auto& [other, each] : entries_)
      if (each.node == with.node && other != from.connection)
        lost.push_back(other);
    for (const std::uint64_t other : lost) {
      entries_.at(other).on->end("replaced by another connection of the same process");
      forget(other);
    }
  } else {
    targets_.erase(*with.calls);
  }
  with.up = true;
  state_->put(from.connection, {with.on, with.remote});
  tell(state_->to.up, from.connection);
}

void gateway::take(parcel&& each) {
  const auto there = entries_.find(each.connection);
  if (there == entries_.end() || !there->second.up)
    return;
  entry& from = there->second;
  from.taken += cost_of(each);
  const std::uint64_t every = std::min<std::uint64_t>(receipt_every_max, state_->how.unacknowledged_bytes_max / 4);
  if (from.taken - from.told >= every) {
    from.told = from.taken;
    anon_send(from.remote, receipt{from.taken});
  }
  tell(state_->to.arrived, each.connection, std::move(each.bytes));
}

void gateway::forget(std::uint64_t number) {
  const auto there = entries_.find(number);
  if (there == entries_.end())
    return;
  const entry was = std::move(there->second);
  entries_.erase(there);
  state_->erase(number);
  if (was.up)
    tell(state_->to.down, number, was.on->why());
  else if (was.calls && targets_.contains(*was.calls) && targets_.at(*was.calls).connection == number)
    fail(*was.calls, was.refused.empty() ? was.on->why() : was.refused);
}

void gateway::close() {
  targets_.clear();
  while (!entries_.empty()) {
    entries_.begin()->second.on->end("this side closed the link");
    forget(entries_.begin()->first);
  }
  if (resolver_)
    anon_send(resolver_, runtime::curtain{});
  quit();
}

}  // namespace twinkle::net::control
