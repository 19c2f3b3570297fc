// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/io/basp_broker.hpp>
#include <caf/io/middleman.hpp>
#include <caf/send.hpp>
#include <caf/thread_hook.hpp>
#include <set>

#include "caf_gateway.hpp"
#include "caf_sockets.hpp"
#include "control_link.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle::net::control {
namespace {

/// Writing to a closed socket is an error to see, no reason to die. Only threads of our own are told so.
struct pipes_stay_quiet final : caf::thread_hook {
  void init(caf::actor_system&) override {}
  void thread_started() override {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  }
  void thread_terminates() override {}
};

struct link_config final : caf::actor_system_config {
  explicit link_config(const std::string& protocol) {
    add_messages(*this);
    load<caf::io::middleman>();
    add_thread_hook<pipes_stay_quiet>();
    // As in a session's system: no sleeps of 50 us while polling, some polling before a sleep.
    set("work-stealing.moderate-poll-attempts", std::size_t{0});
    set("work-stealing.aggressive-poll-attempts", std::size_t{600});
    set("scheduler.max-threads", std::size_t{1});
    // Messages are read on the thread of their connection, which is how they know it.
    set("middleman.workers", std::size_t{0});
    set("middleman.app-identifiers", std::vector<std::string>{protocol});
    set("middleman.enable-automatic-connections", false);
    // Whether a process is alive is for our own heartbeats to say.
    set("middleman.heartbeat-interval", caf::timespan(0));
    set("middleman.connection-timeout", caf::timespan(0));
  }
};

}  // namespace

struct control_link::system {
  system(link_options how, link_events to)
      : state(std::make_shared<link_state>(std::move(how), std::move(to))), config(state->how.protocol),
        actors(config), loop(dynamic_cast<caf::io::network::default_multiplexer&>(actors.middleman().backend())),
        broker(actors.middleman().named_broker<caf::io::basp_broker>(caf::atom("BASP"))) {
    caf::actor_config on_loop{&loop};
    state->begin(actors.spawn_class<gateway, caf::hidden>(on_loop, state, broker, loop, alive));
  }

  void tell_gateway(wanted what) const { caf::anon_send(state->gateway(), std::move(what)); }

  std::shared_ptr<link_state> state;
  link_config config;
  caf::actor_system actors;
  caf::io::network::default_multiplexer& loop;
  caf::actor broker;
  std::shared_ptr<runtime::census> alive = std::make_shared<runtime::census>();
};

control_link::control_link(link_options how, link_events to) {
  const runtime::logger_kept kept;
  system_ = std::make_unique<system>(std::move(how), std::move(to));
}

control_link::~control_link() { stop(); }

void control_link::stop() {
  if (std::exchange(stopped_, true))
    return;
  const runtime::logger_kept kept;
  caf::anon_send(system_->state->finish(), runtime::curtain{});
  system_->alive->wait_for_none();
}

std::uint16_t control_link::listen(const std::string& host, std::uint16_t port) {
  socket_handle socket = listening_socket({host, port});
  const std::uint16_t bound = port_of(socket);
  caf::io::doorman_ptr doorman = make_doorman(system_->loop, system_->state, std::move(socket));
  caf::anon_send(system_->broker, caf::publish_atom_v, std::move(doorman), bound,
                 caf::actor_cast<caf::strong_actor_ptr>(system_->state->gateway()), std::set<std::string>{});
  return bound;
}

void control_link::connect(const std::string& host, std::uint16_t port) {
  system_->tell_gateway({.where = {host, port}});
}

void control_link::give_up(const std::string& host, std::uint16_t port) {
  system_->tell_gateway({.where = {host, port}, .still = false});
}

std::string control_link::last_failure(const std::string& host, std::uint16_t port) const {
  return system_->state->failure({host, port});
}

void control_link::send(std::uint64_t peer, std::vector<std::byte> bytes) {
  const link_options& how = system_->state->how;
  if (bytes.size() > how.message_bytes_max)
    throw error("a message of " + std::to_string(bytes.size()) + " bytes is longer than message_bytes_max, " +
                std::to_string(how.message_bytes_max) + ": send less at once");
  const std::optional<link_state::peer> to = system_->state->find(peer);
  if (!to || to->on->ended())
    return;
  parcel sent{std::move(bytes)};
  if (!to->on->count_sent(cost_of(sent), how.unacknowledged_bytes_max))
    return to->on->end("it does not take what is sent: more than unacknowledged_bytes_max, " +
                       std::to_string(how.unacknowledged_bytes_max) + ", would be on their way");
  to->remote->enqueue(caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, std::move(sent)), nullptr);
}

void control_link::close(std::uint64_t peer) {
  if (const std::optional<link_state::peer> to = system_->state->find(peer))
    to->on->end("this side closed it");
}

}  // namespace twinkle::net::control
