// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "twinkle/data/buffer.hpp"
#include "twinkle/flow/message.hpp"

namespace twinkle::place {

/// What the gateways of two nodes say to each other. One of them is always that of the node that leads.
namespace letter {

/// Of other versions nothing but hello and refused can be read.
inline constexpr std::uint32_t protocol = 2;

/// A node presents itself to the one that leads.
struct hello {
  std::uint32_t version = protocol;
  std::string cluster;
  std::uint64_t graph = 0;        ///< a digest of the graph, its options and where it is placed
  std::string node;
  std::uint64_t incarnation = 0;  ///< of the process: another one each time it is started
  std::string host;               ///< where it serves rows
  std::uint16_t port = 0;
};
/// The node is not taken, and why.
struct refused {
  std::string why;
};
/// Where the nodes are that rows can be fetched from; those with incarnation 0 are not there.
struct nodes {
  struct node {
    std::string host;
    std::uint16_t port = 0;
    std::uint64_t incarnation = 0;
  };
  std::vector<node> all;
};
/// Nothing but that one is alive.
struct ping {};
/// A message from one actor to another, in its wire form.
struct post {
  address from;
  address to;
  buffer bytes;
};
/// A worker is to be there, with a new object.
struct spawn {
  address who;
};
/// Nobody needs what the node keeps under these keys.
struct release {
  std::vector<std::uint64_t> keys;
};
/// Somebody at the node wants the run to end.
struct interrupt {};
/// A process cannot be reached from the node, which had to do with it.
struct unreachable {
  std::uint32_t node = 0;
  std::uint64_t incarnation = 0;
  std::string why;
};
/// The run is over, and what the process is to end with.
struct goodbye {
  std::int32_t code = 0;
};

}  // namespace letter

using node_letter = std::variant<letter::hello, letter::refused, letter::nodes, letter::ping, letter::post, letter::spawn,
                                 letter::release, letter::interrupt, letter::unreachable, letter::goodbye>;

[[nodiscard]] std::vector<std::byte> to_bytes(const node_letter& what);

/// Throws `error` for bytes that are none. A message is borrowed from them, and not looked into.
[[nodiscard]] node_letter letter_from_bytes(const buffer& bytes);

}  // namespace twinkle::place
