// SPDX-License-Identifier: Apache-2.0
#include "sockets.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "twinkle/base/error.hpp"
#include "twinkle/place/addresses.hpp"

namespace twinkle::net::control {
namespace {

sockaddr* generic(sockaddr_storage& address) { return reinterpret_cast<sockaddr*>(&address); }
const sockaddr* generic(const sockaddr_storage& address) { return reinterpret_cast<const sockaddr*>(&address); }

std::string advice(int failed_with) {
  switch (failed_with) {
    case EADDRINUSE:
    case EACCES: return "; give this node another port";
    default: return "; give this node an address of this machine";
  }
}

socket_handle make(int family) {
  return socket_handle(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

bool is_loopback(const socket_address& at) {
  if (at.bytes.ss_family == AF_INET)
    return ntohl(reinterpret_cast<const sockaddr_in&>(at.bytes).sin_addr.s_addr) >> 24 == 127;
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(at.bytes).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

std::string numbers_of(const socket_address& at) {
  std::array<char, NI_MAXHOST> text{};
  if (const int failed = ::getnameinfo(generic(at.bytes), at.length, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST))
    throw error(std::string("an address cannot be written in numbers: ") + ::gai_strerror(failed));
  return text.data();
}

bool listens(const socket_handle& socket, const socket_address& at) {
  const int yes = 1;
  return socket.get() >= 0 && ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
         ::bind(socket.get(), generic(at.bytes), at.length) == 0 && ::listen(socket.get(), SOMAXCONN) == 0;
}

}  // namespace

std::string to_string(const endpoint& where) {
  const bool is_v6 = where.host.find(':') != std::string::npos;
  return (is_v6 ? "[" + where.host + "]" : where.host) + ":" + std::to_string(where.port);
}

socket_handle::~socket_handle() {
  if (socket_ >= 0)
    ::close(socket_);
}

std::string words(int error_number) {
  std::string text = std::generic_category().message(error_number);
  if (!text.empty())
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::vector<socket_address> addresses_of(const endpoint& where, lookups what) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV | (what == lookups::numbers_only ? AI_NUMERICHOST : 0);
  addrinfo* first = nullptr;
  const int failed = ::getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &wanted, &first);
  if (failed == EAI_NONAME && what == lookups::numbers_only)
    return {};
  if (failed != 0)
    throw error("no address of " + where.host + ": " + ::gai_strerror(failed));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(first, &::freeaddrinfo);
  std::vector<socket_address> found;
  for (const addrinfo* each = first; each != nullptr; each = each->ai_next) {
    socket_address& next = found.emplace_back();
    std::memcpy(&next.bytes, each->ai_addr, each->ai_addrlen);
    next.length = each->ai_addrlen;
  }
  return found;
}

socket_handle listening_socket(const endpoint& where) {
  const std::string what = "cannot listen on " + to_string(where) + ": ";
  std::vector<socket_address> found;
  try {
    found = addresses_of(where, lookups::names);
  } catch (const error& unknown) {
    throw error(what + unknown.what() + advice(EADDRNOTAVAIL));
  }
  socket_handle socket = make(found.front().bytes.ss_family);
  if (!listens(socket, found.front())) {
    const int failed_with = errno;
    throw error(what + words(failed_with) + advice(failed_with));
  }
  return socket;
}

std::uint16_t port_of(const socket_handle& socket) {
  socket_address at;
  at.length = sizeof at.bytes;
  if (::getsockname(socket.get(), generic(at.bytes), &at.length) != 0)
    throw error("a socket has no name: " + words(errno));
  return at.bytes.ss_family == AF_INET6 ? ntohs(reinterpret_cast<const sockaddr_in6&>(at.bytes).sin6_port)
                                        : ntohs(reinterpret_cast<const sockaddr_in&>(at.bytes).sin_port);
}

std::string listening_host(const std::string& host) {
  if (place::is_loopback(host))
    return host;
  const std::vector<socket_address> found = addresses_of({host, 0}, lookups::names);
  for (const socket_address& each : found)
    if (std::string numbers = numbers_of(each); !is_loopback(each))
      return numbers;
  throw error("'" + host + "' is " + numbers_of(found.front()) + " on this machine, where no other can come; write its address "
              "instead, or correct /etc/hosts");
}

std::string host_towards(const endpoint& where) {
  const socket_address to = addresses_of(where, lookups::names).front();
  const socket_handle probe{::socket(to.bytes.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0)};  // nothing is sent
  socket_address self{{}, sizeof(sockaddr_storage)};
  if (probe.get() < 0 || ::connect(probe.get(), generic(to.bytes), to.length) != 0 ||
      ::getsockname(probe.get(), generic(self.bytes), &self.length) != 0)
    throw error("no way from this machine to " + to_string(where) + ": " + words(errno));
  return numbers_of(self);
}

socket_handle connecting_socket(const socket_address& to) {
  socket_handle socket = make(to.bytes.ss_family);
  if (socket.get() < 0 || (::connect(socket.get(), generic(to.bytes), to.length) != 0 && errno != EINPROGRESS))
    throw error(words(errno));
  return socket;
}

}  // namespace twinkle::net::control
