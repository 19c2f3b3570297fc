// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bulk_options.hpp"
#include "bulk_store.hpp"
#include "twinkle/data/buffer.hpp"

namespace twinkle::net {

class bulk_core;

struct bulk_counts {
  std::size_t bytes_sent = 0;
  std::size_t bytes_received = 0;
  std::size_t refused_strangers = 0;  ///< who did not greet, greeted too late, or as somebody who may not
  std::size_t connections = 0;        ///< greeted, now; two nodes that both ask have two
};

/// Rows, weights and collectives between nodes, over TCP. Whoever asks connects, when it has to, and again after a loss.
///
///     node a   fetch, message  ->  node b        a's bytes land where a wants them, straight from what b keeps
///              <-  data
///
/// All functions may be called from any thread, and none blocks. Callbacks run on the plane's thread, one at a time:
/// they must not block or throw, and may call these functions.
class bulk_plane {
 public:
  /// Listens. Throws `error` saying what to do if it cannot, or the files of `tls` cannot be used. `kept` has to live
  /// longer.
  bulk_plane(bulk_options how, bulk_store& kept);
  ~bulk_plane();
  /// Every fetch is answered first, with a cause; messages that are not sent yet are lost, and nothing happens any more.
  /// Not for the plane's own thread.
  void stop();
  bulk_plane(const bulk_plane&) = delete;
  bulk_plane& operator=(const bulk_plane&) = delete;

  [[nodiscard]] std::uint16_t port() const;

  /// All nodes, by number. May be called again: what is under way with a peer whose incarnation or place is another now
  /// fails with a cause. Until then nobody is known, and whoever greets is refused.
  void know(std::vector<bulk_peer> peers);

  /// Exactly once for each fetch. No cause: all bytes are there.
  using done = std::function<void(std::optional<std::string> cause)>;

  /// Ranges of what node `from` keeps, one after the other, into `into`, which has to have their bytes and must stay
  /// until `then` is called. A fetch from this node itself is answered as well. Throws `error` if `into` has another
  /// size, or there are more ranges or bytes than `limits` let.
  std::uint64_t fetch(std::size_t from, std::vector<bulk_range> what, std::span<std::byte> into, done then);

  /// Its cause becomes "cancelled", unless it is answered already.
  void cancel(std::uint64_t fetch);

  /// In order for each peer. It arrives, or `on_silent` says that the peer is gone. Throws `error` for more bytes than
  /// `limits` let.
  void send(std::size_t to, std::vector<std::byte> head, buffer body);

  /// To be set before peers are known. The body starts at a multiple of 16 bytes. One that throws `error` ends the
  /// connection that the message came over.
  void on_message(std::function<void(std::size_t from, std::vector<std::byte> head, buffer body)> to);

  /// A peer with which there was a connection is gone: it closed, or nothing came for `silence`; or one that cannot be
  /// reached, to which there were messages. All that is under way with it has failed. Called once until there is a
  /// connection again.
  void on_silent(std::function<void(std::size_t node, std::uint64_t incarnation, std::string why)> to);

  [[nodiscard]] bulk_counts counted() const;

 private:
  std::unique_ptr<bulk_core> core_;
};

}  // namespace twinkle::net
