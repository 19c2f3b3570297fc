// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace twinkle::net::control {

/// Where a process listens.
struct endpoint {
  std::string host;
  std::uint16_t port = 0;

  friend auto operator<=>(const endpoint&, const endpoint&) = default;
};

[[nodiscard]] std::string to_string(const endpoint& where);

struct socket_address {
  sockaddr_storage bytes = {};
  socklen_t length = 0;
};

/// A socket, closed with it.
class socket_handle {
 public:
  explicit socket_handle(int socket = -1) : socket_(socket) {}
  socket_handle(socket_handle&& other) noexcept : socket_(other.release()) {}
  socket_handle& operator=(socket_handle&& other) noexcept {
    std::swap(socket_, other.socket_);
    return *this;
  }
  ~socket_handle();

  [[nodiscard]] int get() const { return socket_; }
  [[nodiscard]] int release() { return std::exchange(socket_, -1); }

 private:
  int socket_;
};

/// What an errno means, to go on in a sentence: "connection refused".
[[nodiscard]] std::string words(int error_number);

enum class lookups : std::uint8_t { numbers_only, names };

/// The addresses of a host. Names may take seconds; of a name there is none where only numbers are asked for. Throws
/// `error` where a name is not known.
[[nodiscard]] std::vector<socket_address> addresses_of(const endpoint& where, lookups what);

/// Bound to this host and port alone (0: any), it does not block. Throws `error` where that fails.
[[nodiscard]] socket_handle listening_socket(const endpoint& where);

[[nodiscard]] std::uint16_t port_of(const socket_handle& socket);

/// What a node listens on whose host others know by this name: an address in numbers, or the name where it is whichever
/// machine reads it. Throws `error` where the name is not known, or leads only to where no other machine can come.
[[nodiscard]] std::string listening_host(const std::string& host);

/// The address of this machine from which another can be reached, as numbers. Throws `error` where there is none.
[[nodiscard]] std::string host_towards(const endpoint& where);

/// On its way to be connected, it does not block. Throws `error` where it cannot even begin.
[[nodiscard]] socket_handle connecting_socket(const socket_address& to);

}  // namespace twinkle::net::control
