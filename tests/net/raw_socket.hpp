// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "bulk_node.hpp"
#include "twinkle/data/frame.hpp"

namespace bulk {

/// One side of a connection that says whatever a test wants it to.
class raw_socket {
 public:
  explicit raw_socket(int opened) : opened_(opened) {
    const timeval most{.tv_sec = 120, .tv_usec = 0};
    ::setsockopt(opened_, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
  }
  raw_socket(raw_socket&& other) noexcept : opened_(std::exchange(other.opened_, -1)) {}
  raw_socket& operator=(raw_socket&&) = delete;
  ~raw_socket() { close(); }

  static raw_socket to(std::uint16_t port) {
    raw_socket made(::socket(AF_INET, SOCK_STREAM, 0));
    const sockaddr_in where = loopback(port);
    REQUIRE(::connect(made.opened_, reinterpret_cast<const sockaddr*>(&where), sizeof(where)) == 0);
    return made;
  }
  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return where;
  }

  void close() {
    if (opened_ >= 0)
      ::close(std::exchange(opened_, -1));
  }
  /// Whether all of it went.
  bool write(std::span<const std::byte> what) const {
    while (!what.empty()) {
      const ssize_t sent = ::send(opened_, what.data(), what.size(), MSG_NOSIGNAL);
      if (sent <= 0)
        return false;
      what = what.subspan(static_cast<std::size_t>(sent));
    }
    return true;
  }
  bool write(tk::frame_header header, const bytes& head = {}, const bytes& body = {}) const {
    header.head_bytes = head.size();
    header.body_bytes = body.size();
    return write(tk::to_bytes(header)) && write(head) && write(body);
  }
  /// Fewer bytes if the connection ends.
  bytes read(std::size_t most) const {
    bytes got(most);
    std::size_t there = 0;
    while (there < most) {
      const ssize_t more = ::recv(opened_, got.data() + there, most - there, 0);
      if (more <= 0)
        break;
      there += static_cast<std::size_t>(more);
    }
    got.resize(there);
    return got;
  }
  struct frame {
    tk::frame_header header;
    bytes head;
    bytes body;
  };
  frame read_frame() const {
    frame got;
    got.header = tk::frame_header_of(read(tk::frame_header::bytes));
    got.head = read(got.header.head_bytes);
    got.body = read(got.header.body_bytes);
    return got;
  }
  /// The next that is no ping.
  frame read_word() const {
    frame got = read_frame();
    while (got.header.kind == tk::frame_kind::ping)
      got = read_frame();
    return got;
  }
  /// Waits until the other side closes.
  [[nodiscard]] bool is_closed() const { return read(1).empty(); }

 private:
  int opened_;
};

inline std::string text_of(const bytes& head) { return {reinterpret_cast<const char*>(head.data()), head.size()}; }

inline tk::greeting greeting_of(std::size_t node) {
  const tk::net::bulk_options how = options(node);
  return {how.cluster, how.graph, how.node, how.incarnation};
}

/// A node of which nothing is real but its greeting: `peer` connects to it.
class raw_node {
 public:
  explicit raw_node(std::size_t node) : node_(node), listens_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in where = raw_socket::loopback(0);
    auto* address = reinterpret_cast<sockaddr*>(&where);
    socklen_t bytes = sizeof(where);
    REQUIRE(::bind(listens_, address, bytes) == 0);
    REQUIRE(::listen(listens_, 8) == 0);
    REQUIRE(::getsockname(listens_, address, &bytes) == 0);
    port_ = ntohs(where.sin_port);
  }
  raw_node(const raw_node&) = delete;
  raw_node& operator=(const raw_node&) = delete;
  ~raw_node() { ::close(listens_); }

  [[nodiscard]] tk::net::bulk_peer peer() const {
    const tk::net::bulk_options how = options(node_);
    return {how.name, "127.0.0.1", port_, how.incarnation};
  }
  [[nodiscard]] raw_socket accept() const { return raw_socket(::accept(listens_, nullptr, nullptr)); }
  /// Somebody who connected and was welcomed.
  [[nodiscard]] raw_socket welcome() const {
    raw_socket made = accept();
    CHECK(made.read_word().header.kind == tk::frame_kind::hello);
    CHECK(made.write({.kind = tk::frame_kind::welcome}, tk::to_bytes(greeting_of(node_))));
    return made;
  }

 private:
  std::size_t node_;
  int listens_;
  std::uint16_t port_ = 0;
};

/// Connects as this node, and is welcome.
inline raw_socket greeted_as(std::size_t node, std::uint16_t port) {
  raw_socket made = raw_socket::to(port);
  CHECK(made.write({.kind = tk::frame_kind::hello}, tk::to_bytes(greeting_of(node))));
  CHECK(made.read_word().header.kind == tk::frame_kind::welcome);
  return made;
}

}  // namespace bulk
