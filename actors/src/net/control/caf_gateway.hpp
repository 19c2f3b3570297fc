// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <caf/io/broker.hpp>
#include <caf/node_id.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "caf_link_state.hpp"
#include "caf_parcel.hpp"

namespace twinkle::net::control {

/// To the gateway: connect, or give up.
struct wanted {
  endpoint where;
  bool still = true;
};

/// To the one who looks names up.
struct unknown_name {
  endpoint where;
  caf::actor asks;
};

/// To the gateway: what became of a name.
struct looked_up {
  endpoint where;
  std::vector<socket_address> found;
  std::string failure;
};

/// To the gateway, from itself: it is time for another try.
struct try_again {
  endpoint where;
  std::uint64_t wish = 0;
};

/// To the gateway, from itself: by now the connection should be up.
struct overdue {
  std::uint64_t connection = 0;
};

/// The one actor that other processes know. It greets them, tries to reach them, and tells the link's user of them. It runs
/// on the thread of the sockets: what comes changes threads once less.
class gateway final : public caf::io::broker {
 public:
  gateway(caf::actor_config& config, std::shared_ptr<link_state> state, caf::actor broker,
          caf::io::network::default_multiplexer& loop, std::shared_ptr<runtime::census> alive);

  caf::behavior make_behavior() override;
  bool cleanup(caf::error&& why, caf::execution_unit* unit) override;

 private:
  /// A connection from its first moment to its last.
  struct entry {
    std::shared_ptr<connection> on;
    std::optional<endpoint> calls = std::nullopt;  // where this side has called
    caf::actor remote = nullptr;
    caf::node_id node = {};
    bool up = false;
    std::string refused = "";  // why, where CAF knew better than the socket
    std::uint64_t taken = 0;
    std::uint64_t told = 0;
  };

  /// Somewhere to connect to.
  struct target {
    std::uint64_t wish = 0;  // which `connect` it was
    std::size_t tries = 0;
    std::optional<std::uint64_t> connection = std::nullopt;
  };

  void want(const endpoint& where);
  void give_up(const endpoint& where);
  void attempt(const endpoint& where);
  void call(const endpoint& where, const std::vector<socket_address>& found);
  void fail(const endpoint& where, const std::string& why);
  void enter(entry each);
  void greet(std::uint64_t number, const caf::node_id& node, const caf::strong_actor_ptr& remote);
  void meet(const hello& from);
  void take(parcel&& each);
  void forget(std::uint64_t number);
  void close();

  std::shared_ptr<link_state> state_;
  caf::actor broker_;
  caf::io::network::default_multiplexer& loop_;
  std::shared_ptr<runtime::census> alive_;
  caf::actor resolver_;
  std::uint64_t wishes_ = 0;
  std::map<std::uint64_t, entry> entries_;
  std::map<endpoint, target> targets_;
};

}  // namespace twinkle::net::control

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(twinkle::net::control::wanted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(twinkle::net::control::unknown_name)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(twinkle::net::control::looked_up)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(twinkle::net::control::try_again)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(twinkle::net::control::overdue)
