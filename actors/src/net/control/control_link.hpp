// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/tls_files.hpp"

namespace twinkle::net::control {

struct link_options {
  /// Processes with another one are refused: whatever changes what is sent has to change it.
  std::string protocol = "twinkle/1";
  /// Where it is set, both sides show certificates. Without it nothing is encrypted, and whoever reaches the port may
  /// come in.
  std::optional<tls_files> tls = std::nullopt;
  /// The longest message. One that claims to be longer closes its connection, before memory is taken for it.
  std::size_t message_bytes_max = std::size_t{64} << 20;
  /// A peer that lets more than this pile up is closed. At least a message and its 64 bytes, at most 1 GiB.
  std::size_t unacknowledged_bytes_max = std::size_t{256} << 20;
  /// Connections that have not greeted: for one more the oldest goes.
  std::size_t strangers_max = 64;
  /// In which a connection has to be up.
  std::chrono::seconds up_within = std::chrono::seconds(5);
};

/// What a link tells, on the thread of its sockets, never two at once. They must not block, throw, nor destroy the link.
struct link_events {
  /// A connection: `peer` is its number here, and never used again for another.
  std::function<void(std::uint64_t peer)> up = {};
  /// In the order in which they were sent.
  std::function<void(std::uint64_t peer, std::vector<std::byte>)> arrived = {};
  /// Exactly once for each that was up, the last that is heard of it.
  std::function<void(std::uint64_t peer, std::string why)> down = {};
};

/// The control plane of a process: opaque messages to and from other processes, in order on each connection, over
/// CAF's own distribution. Of two processes exactly one connects. What a connection has not delivered when it ends is
/// lost, so those who part have to answer each other first. It notices a process that ends, not one that freezes.
class control_link {
 public:
  /// Throws `error` where an option is out of range or a TLS file cannot be used.
  control_link(link_options how, link_events to);
  ~control_link();
  /// Closes all, also what is frozen, and tells `down` for those that are up; no event comes after it, and nothing is
  /// sent. It waits for an event that runs, and for a host name that is being looked up.
  void stop();
  control_link(const control_link&) = delete;
  control_link& operator=(const control_link&) = delete;

  /// On this host alone, on this port (0: any), which is returned. Throws `error` where that cannot be.
  std::uint16_t listen(const std::string& host, std::uint16_t port);

  /// Tries until it is up, or given up: again 200 ms after a try failed, which one without an answer does after `up_within`.
  /// Never blocks. After `up` it may be called again, for a new connection.
  void connect(const std::string& host, std::uint16_t port);
  void give_up(const std::string& host, std::uint16_t port);
  /// Why the last try failed, as "connection refused", "another version of the protocol" or "certificate refused: …";
  /// empty where none has.
  [[nodiscard]] std::string last_failure(const std::string& host, std::uint16_t port) const;

  /// From any thread; dropped when the peer is down. Throws `error` where the message is too long.
  void send(std::uint64_t peer, std::vector<std::byte> bytes);
  void close(std::uint64_t peer);

 private:
  struct system;
  std::unique_ptr<system> system_;
  bool stopped_ = false;
};

}  // namespace twinkle::net::control
