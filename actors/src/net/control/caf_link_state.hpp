// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/io/network/default_multiplexer.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "connection.hpp"
#include "control_link.hpp"
#include "runtime/caf_curtain.hpp"
#include "tls_link_channel.hpp"

namespace twinkle::net::control {

/// To the gateway: a connection was accepted.
struct accepted {
  std::shared_ptr<connection> on;
};

/// To the gateway: a connection has ended.
struct gone {
  std::uint64_t connection = 0;
};

/// What the parts of a link share: its front, its gateway, and its sockets on the thread of CAF's multiplexer.
class link_state : public std::enable_shared_from_this<link_state> {
 public:
  /// The gateway of another process, and the connection to it.
  struct peer {
    std::shared_ptr<connection> on;
    caf::actor remote;
  };

  link_state(link_options how, link_events to);

  const link_options how;
  const link_events to;

  [[nodiscard]] std::unique_ptr<link_channel> open(int socket, bool calls) const;

  void begin(caf::actor gateway);
  /// Nothing is admitted nor told any more. Returns the gateway, to be ended.
  [[nodiscard]] caf::actor finish();
  [[nodiscard]] caf::actor gateway() const;

  /// Numbers a connection; null where the link is closing.
  [[nodiscard]] std::shared_ptr<connection> admit(int socket);

  void put(std::uint64_t number, peer who);
  void erase(std::uint64_t number);
  [[nodiscard]] std::optional<peer> find(std::uint64_t number) const;

  void set_failure(const endpoint& where, const std::string& why);
  [[nodiscard]] std::string failure(const endpoint& where) const;

 private:
  std::shared_ptr<ssl_ctx_st> tls_;  // null: as it is
  mutable std::mutex mutex_;
  caf::actor gateway_;
  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, peer> peers_;
  std::map<endpoint, std::string> failures_;
};

}  // namespace twinkle::net::control

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(twinkle::net::control::accepted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(twinkle::net::control::gone)
