// SPDX-License-Identifier: Apache-2.0
#include "channel.hpp"

#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace twinkle::net {
namespace {

// Asio's own condition writes 64 KiB at a time.
constexpr std::size_t write_bytes_max = std::size_t{16} << 20;

class plain final : public channel {
 public:
  explicit plain(const asio::any_io_executor& on) : socket_(on) {}

  tcp::socket& socket() override { return socket_; }

  asio::awaitable<void> open(bool) override {
    socket_.set_option(tcp::no_delay(true));
    socket_.non_blocking(true);
    co_return;
  }

  asio::awaitable<void> readable() override { return socket_.async_wait(tcp::socket::wait_read, asio::use_awaitable); }

  std::size_t read(const std::array<asio::mutable_buffer, 2>& into) override {
    error_code failed;
    const std::size_t bytes = socket_.read_some(into, failed);
    if (failed == asio::error::would_block || failed == asio::error::try_again)
      return 0;
    if (failed)
      throw boost::system::system_error(failed);
    return bytes;
  }

  void write(const std::vector<asio::const_buffer>& what, std::function<void(error_code)> then) override {
    const auto as_much_as_goes = [](error_code failed, std::size_t) { return failed ? 0 : write_bytes_max; };
    asio::async_write(socket_, what, as_much_as_goes,
                      [then = std::move(then)](error_code failed, std::size_t) { then(failed); });
  }

 private:
  tcp::socket socket_;
};

}  // namespace

void channel::close() {
  error_code ignored;
  socket().close(ignored);
}

std::unique_ptr<channel> plain_channel(const asio::any_io_executor& on) { return std::make_unique<plain>(on); }

}  // namespace twinkle::net
