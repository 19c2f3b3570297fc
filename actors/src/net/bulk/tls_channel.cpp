// SPDX-License-Identifier: Apache-2.0
#include "tls_channel.hpp"

#include <algorithm>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cstring>
#include <string>
#include <utility>

#include "net/tls_context.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle::net {
namespace {

namespace ssl = asio::ssl;

constexpr std::size_t record_bytes = std::size_t{16} << 10;  // of TLS

// What is decrypted lies here first: TLS copies anyway.
class tls final : public channel {
 public:
  tls(const asio::any_io_executor& on, ssl::context& with) : stream_(on, with) {}

  tcp::socket& socket() override { return stream_.next_layer(); }

  asio::awaitable<void> open(bool asks) override {
    socket().set_option(tcp::no_delay(true));
    const auto side = asks ? ssl::stream_base::client : ssl::stream_base::server;
    try {
      co_await stream_.async_handshake(side, asio::use_awaitable);
    } catch (const boost::system::system_error& wrong) {
      throw error("TLS: " + wrong.code().message());
    }
  }

  asio::awaitable<void> readable() override {
    if (first_ < last_)
      co_return;
    first_ = 0;
    last_ = 0;
    last_ = co_await stream_.async_read_some(asio::buffer(decrypted_), asio::use_awaitable);
  }

  std::size_t read(const std::array<asio::mutable_buffer, 2>& into) override {
    const std::size_t bytes = asio::buffer_copy(into, asio::buffer(decrypted_.data() + first_, last_ - first_));
    first_ += bytes;
    return bytes;
  }

  void write(const std::vector<asio::const_buffer>& what, std::function<void(error_code)> then) override {
    asio::async_write(stream_, what, [then = std::move(then)](error_code failed, std::size_t) { then(failed); });
  }

 private:
  ssl::stream<tcp::socket> stream_;
  std::array<std::byte, record_bytes> decrypted_{};
  std::size_t first_ = 0;  // [first_, last_) is not read yet
  std::size_t last_ = 0;
};

}  // namespace

std::shared_ptr<ssl::context> asio_context(const tls_files& files) {
  const std::shared_ptr<SSL_CTX> made = tls_context(files);
  SSL_CTX_up_ref(made.get());  // for Asio's, which frees what it is given
  return std::make_shared<ssl::context>(made.get());
}

std::unique_ptr<channel> tls_channel(const asio::any_io_executor& on, ssl::context& with) {
  return std::make_unique<tls>(on, with);
}

}  // namespace twinkle::net
