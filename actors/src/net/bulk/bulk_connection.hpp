// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bulk_options.hpp"
#include "channel.hpp"
#include "frame_queue.hpp"
#include "frame_reader.hpp"

namespace twinkle::net {

/// Who makes something of the frames of one connection.
class frame_handler {
 public:
  virtual ~frame_handler() = default;

  /// Before anything is allocated for it. Throws `error` if such a frame may not come now, which ends the connection.
  virtual void begin(const frame_header& header) = 0;
  /// Where the body of this frame belongs, all of it; empty if it is wanted no more.
  virtual std::span<std::byte> room() = 0;
  virtual void end(const frame_header& header, std::vector<std::byte> head) = 0;
  /// What came, or could not come, is an `error`: nothing more is read.
  virtual void wrong(const std::string& why) = 0;
  /// Once, and nothing after it.
  virtual void fallen(const std::string& why) = 0;
};

/// What all connections of a plane have moved.
struct bulk_traffic {
  std::atomic<std::size_t> sent = 0;
  std::atomic<std::size_t> received = 0;
  std::atomic<std::size_t> connections = 0;  // greeted, now
};

/// Frames both ways, pings where there are none, and an end with a cause. Everything happens on the plane's thread.
class bulk_connection : public std::enable_shared_from_this<bulk_connection> {
 public:
  bulk_connection(std::unique_ptr<channel> over, const bulk_options& how, bulk_traffic& traffic);

  /// `open` makes the channel ready; then frames are read until the connection falls.
  void start(std::shared_ptr<frame_handler> by, std::function<asio::awaitable<void>(channel&)> open);

  void put(const frame_header& header, std::vector<std::byte> head = {}, buffer body = {});
  void answer(std::uint64_t id, std::vector<buffer> pieces);
  void forget(std::uint64_t id);
  /// The other side is who it should be: from now on there are pings, before there was a deadline.
  void greeted();
  /// Nothing more comes: falls when everything that was put is sent.
  void end(const std::string& why);
  /// Closes, for the first cause there is.
  void fall(const std::string& why);

  [[nodiscard]] tcp::socket& socket() { return over_->socket(); }
  [[nodiscard]] bool is_greeted() const { return greeted_; }
  [[nodiscard]] std::size_t unsent_bytes() const { return queue_.bytes(); }
  [[nodiscard]] std::size_t answers() const { return queue_.answers(); }
  /// Whether what came looked like a frame of ours.
  [[nodiscard]] bool knew() const { return reader_.knew(); }

 private:
  using self = std::shared_ptr<bulk_connection>;

  [[nodiscard]] asio::awaitable<void> run(self alive, std::function<asio::awaitable<void>(channel&)> open);
  [[nodiscard]] asio::awaitable<void> serve(frame_handler& by);
  void pump();
  void wait_tick();
  void tick();

  std::unique_ptr<channel> over_;
  const bulk_options& how_;
  bulk_traffic& traffic_;
  frame_reader reader_;
  frame_queue queue_;
  asio::steady_timer timer_;
  std::shared_ptr<frame_handler> by_;
  std::vector<asio::const_buffer> writing_;
  bool open_ = false;
  bool greeted_ = false;
  bool broken_ = false;      // nothing can be written any more
  bool wrote_ = false;       // since the last tick
  std::size_t counted_ = 0;  // of what the reader has read
  std::size_t heard_ = 0;    // what the reader had read at the last tick
  std::size_t silent_ticks_ = 0;
  bool fallen_ = false;
  std::string end_;  // why it ends when all is sent
};

}  // namespace twinkle::net
