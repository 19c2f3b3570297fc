// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bulk_connection.hpp"

namespace twinkle::net {

class bulk_core;

/// Somebody who connected: a stranger until it has greeted, then a node that asks.
class bulk_answerer final : public frame_handler, public std::enable_shared_from_this<bulk_answerer> {
 public:
  bulk_answerer(bulk_core& core, std::shared_ptr<bulk_connection> over);

  void start();
  /// Closes it, for good.
  void close(const std::string& why);
  [[nodiscard]] std::size_t node() const { return node_; }
  /// Others are known now: one that was not may be.
  void heard_news();

  void begin(const frame_header& header) override;
  std::span<std::byte> room() override;
  void end(const frame_header& header, std::vector<std::byte> head) override;
  void wrong(const std::string& why) override;
  void fallen(const std::string& why) override;

 private:
  void greet(const greeting& they);
  void await_news(const std::string& differs);
  void wait_no_more();
  void refuse(std::uint64_t id, const std::string& why);
  void answer(std::uint64_t id, const std::vector<bulk_range>& what);

  bulk_core& core_;
  std::shared_ptr<bulk_connection> over_;
  std::size_t node_ = 0;
  std::optional<greeting> early_;  // of a process that is not known yet
  asio::steady_timer waits_;
  std::shared_ptr<std::byte> body_;  // of the message that is being read
  std::size_t body_bytes_ = 0;
};

}  // namespace twinkle::net
