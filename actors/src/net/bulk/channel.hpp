// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace boost::asio::ssl {
class context;
}

namespace twinkle::net {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// Bytes both ways over a socket. Nothing that is read into is held on to while it waits for bytes, so that its owner
/// may go at any time.
class channel {
 public:
  virtual ~channel() = default;

  [[nodiscard]] virtual tcp::socket& socket() = 0;
  /// What has to be said before bytes go over a socket that is connected.
  [[nodiscard]] virtual asio::awaitable<void> open(bool asks) = 0;
  /// Waits until `read` has something. Throws `boost::system::system_error`, as does `read`.
  [[nodiscard]] virtual asio::awaitable<void> readable() = 0;
  /// The bytes that are there, into the first and then the second; 0 if none are.
  [[nodiscard]] virtual std::size_t read(const std::array<asio::mutable_buffer, 2>& into) = 0;
  /// All of it; one at a time. `what` must stay until then.
  virtual void write(const std::vector<asio::const_buffer>& what, std::function<void(error_code)> then) = 0;

  /// Whatever waits ends with an error.
  void close();
};

[[nodiscard]] std::unique_ptr<channel> plain_channel(const asio::any_io_executor& on);

}  // namespace twinkle::net
