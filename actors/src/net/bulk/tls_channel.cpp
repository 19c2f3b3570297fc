// SPDX-License-Identifier: Apache-2.0
#include "tls_channel.hpp"

#include <algorithm>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cstring>
#include <string>
#include <utility>

#include "twinkle/base/error.hpp"

namespace twinkle::net {
namespace {

namespace ssl = asio::ssl;

constexpr std::size_t record_bytes = std::size_t{16} << 10;  // of TLS

void check(const error_code& failed, const char* what, const std::string& path) {
  if (failed)
    throw error(std::string("TLS: the ") + what + " '" + path + "' cannot be used: " + failed.message() +
                "; it must be a PEM file");
}

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

std::shared_ptr<ssl::context> tls_context(const tls_files& files) {
  auto made = std::make_shared<ssl::context>(ssl::context::tls);
  made->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 | ssl::context::no_sslv3 |
                    ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
  made->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
  error_code failed;
  check(made->load_verify_file(files.authority, failed), "authority", files.authority);
  check(made->use_certificate_chain_file(files.certificate, failed), "certificate", files.certificate);
  check(made->use_private_key_file(files.key, ssl::context::pem, failed), "key", files.key);
  return made;
}

std::unique_ptr<channel> tls_channel(const asio::any_io_executor& on, ssl::context& with) {
  return std::make_unique<tls>(on, with);
}

}  // namespace twinkle::net
