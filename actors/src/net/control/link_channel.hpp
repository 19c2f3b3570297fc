// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace twinkle::net::control {

/// What goes through a connected socket that does not block: as it is, or under TLS. It does not own the socket.
class link_channel {
 public:
  link_channel() = default;
  virtual ~link_channel() = default;
  link_channel(const link_channel&) = delete;
  link_channel& operator=(const link_channel&) = delete;

  /// Bytes that were read: 0 where it would block, nothing where the channel ended, which `why` explains.
  [[nodiscard]] virtual std::optional<std::size_t> read(std::span<std::byte> to) = 0;
  /// Bytes that were written, likewise.
  [[nodiscard]] virtual std::optional<std::size_t> write(std::span<const std::byte> from) = 0;
  /// Both sides have agreed on how to talk. Until then, reading and writing nothing is what makes them.
  [[nodiscard]] virtual bool ready() const = 0;
  /// As many bytes were taken off the socket and not read, so that the socket will not tell of them.
  [[nodiscard]] virtual bool holds(std::size_t bytes) const = 0;
  [[nodiscard]] virtual std::string why() const = 0;
};

[[nodiscard]] std::unique_ptr<link_channel> plain_link_channel(int socket);

}  // namespace twinkle::net::control
