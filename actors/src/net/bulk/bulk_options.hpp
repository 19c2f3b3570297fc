// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "net/tls_files.hpp"
#include "twinkle/base/time.hpp"
#include "twinkle/data/frame.hpp"

namespace twinkle::net {

using twinkle::bulk_range;

/// Another node, and where it listens.
struct bulk_peer {
  std::string name;
  std::string host;
  std::uint16_t port = 0;
  std::uint64_t incarnation = 0;

  friend bool operator==(const bulk_peer&, const bulk_peer&) = default;
};

struct bulk_options {
  std::string cluster;      ///< the same on both sides,
  std::uint64_t graph = 0;  ///< as is the digest of the graph
  std::size_t node = 0;     ///< who we are
  std::string name;
  std::uint64_t incarnation = 0;
  std::string bind_host = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: any
  std::optional<tls_files> tls = std::nullopt;
  frame_limits limits = {};
  duration silence = std::chrono::seconds(5);  ///< a peer that says nothing for so long is gone; also to greet
  duration heard_within = std::chrono::seconds(2);  ///< who greets as a process that is not known yet may be, by then
  bool checksums = false;                      ///< of all that is sent; what is received is checked if it has one
  std::size_t chunk_bytes = std::size_t{512} << 10;       ///< of an answer, in one frame
  std::size_t fetches_max = 64;                           ///< under way at once between two nodes; others wait
  std::size_t unsent_bytes_max = std::size_t{1} << 30;    ///< of messages to one peer; one that leaves more is gone
  std::size_t strangers_max = 64;                         ///< who have not greeted; the oldest goes for a new one
};

}  // namespace twinkle::net
