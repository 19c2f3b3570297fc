// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bulk/bulk_options.hpp"
#include "twinkle/data/buffer.hpp"
#include "twinkle/flow/message.hpp"

namespace twinkle::net {

/// What a gateway needs of the world, real or simulated. Nothing blocks. Any thread may call.
class gateway_world {
 public:
  virtual ~gateway_world() = default;
  [[nodiscard]] virtual time_point now() const = 0;

  /// The control plane: in order for each peer; dropped when it is down.
  virtual void send(std::uint64_t peer, std::vector<std::byte> bytes) = 0;
  virtual void close(std::uint64_t peer) = 0;

  /// The bulk plane: what this node keeps, as often as it is asked to, and what others do.
  [[nodiscard]] virtual std::uint64_t keep(const buffer& bytes) = 0;
  [[nodiscard]] virtual std::optional<buffer> find(std::uint64_t key) const = 0;
  virtual void release(std::uint64_t key) = 0;
  /// Where the processes of all nodes serve rows, by node; those that are not there have incarnation 0.
  virtual void know(std::vector<bulk_peer> nodes) = 0;
  /// `then` is called later and once, with a cause if the bytes are not there.
  virtual void fetch(std::size_t node, std::vector<bulk_range> what, std::span<std::byte> into,
                     std::function<void(std::optional<std::string>)> then) = 0;

  /// Does what may take long, soon, on a thread on which nobody waits for it.
  virtual void aside(std::function<void()> what) = 0;

  /// To an actor here.
  virtual void deliver(const address& from, const address& to, message&& content) = 0;
};

}  // namespace twinkle::net
