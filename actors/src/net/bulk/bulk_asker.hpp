// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bulk_connection.hpp"
#include "bulk_plane.hpp"

namespace twinkle::net {

class bulk_core;

/// What this node asks of one other. Connects when there is something to ask.
class bulk_asker final : public frame_handler, public std::enable_shared_from_this<bulk_asker> {
 public:
  struct request {
    std::vector<bulk_range> what;
    std::span<std::byte> into;
    bulk_plane::done then;
    std::size_t there = 0;  // bytes
  };

  bulk_asker(bulk_core& core, std::size_t node, bulk_peer who);

  void fetch(std::uint64_t id, request what);
  /// Whether it was here.
  bool cancel(std::uint64_t id);
  void send(std::vector<std::byte> head, buffer body);
  /// Every fetch fails, messages are forgotten, and the connection is closed.
  void give_up(const std::string& why);
  [[nodiscard]] const bulk_peer& who() const { return who_; }

  void begin(const frame_header& header) override;
  std::span<std::byte> room() override;
  void end(const frame_header& header, std::vector<std::byte> head) override;
  void wrong(const std::string& why) override;
  void fallen(const std::string& why) override;

 private:
  struct message {
    std::vector<std::byte> head;
    buffer body;
  };

  void connect();
  [[nodiscard]] asio::awaitable<void> open(channel& over) const;
  void welcome(const greeting& they);
  void pump();
  void answered(std::uint64_t id, std::optional<std::string> cause);

  bulk_core& core_;
  const std::size_t node_;
  const bulk_peer who_;
  std::shared_ptr<bulk_connection> connection_;
  std::map<std::uint64_t, request> under_way_;
  std::deque<std::pair<std::uint64_t, request>> waiting_;
  std::deque<message> unsent_;  // until there is a connection
  std::size_t unsent_bytes_ = 0;
  frame_header data_;  // what is being read
};

}  // namespace twinkle::net
