// SPDX-License-Identifier: Apache-2.0
#pragma once

// A plain blocking Asio program over loopback: the yardstick of what the bulk plane moves.
#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace bench {

// A thread that answers a number with that many bytes of what it keeps; 0 ends it.
class plain {
 public:
  explicit plain(const std::vector<std::byte>& kept)
      : acceptor_(context_, {boost::asio::ip::address_v4::loopback(), 0}), server_([&] { serve(kept); }) {
    socket_.connect(acceptor_.local_endpoint());
    socket_.set_option(boost::asio::ip::tcp::no_delay(true));
  }
  ~plain() {
    ask(0);
    server_.join();
  }
  void fetch(std::size_t count, std::vector<std::byte>& into) {
    ask(count);
    std::uint64_t length = 0;
    boost::asio::read(socket_, boost::asio::buffer(&length, sizeof(length)));
    boost::asio::read(socket_, boost::asio::buffer(into.data(), length), all);
  }

 private:
  static std::size_t all(boost::system::error_code failed, std::size_t) { return failed ? 0 : std::size_t{64} << 20; }

  void ask(std::uint64_t count) { boost::asio::write(socket_, boost::asio::buffer(&count, sizeof(count))); }
  void serve(const std::vector<std::byte>& kept) {
    boost::asio::ip::tcp::socket socket = acceptor_.accept();
    socket.set_option(boost::asio::ip::tcp::no_delay(true));
    while (true) {
      std::uint64_t count = 0;
      boost::asio::read(socket, boost::asio::buffer(&count, sizeof(count)));
      if (count == 0)
        return;
      const std::array<boost::asio::const_buffer, 2> answer{boost::asio::buffer(&count, sizeof(count)),
                                                     boost::asio::buffer(kept.data(), count)};
      boost::asio::write(socket, answer, all);
    }
  }

  boost::asio::io_context context_;
  boost::asio::ip::tcp::acceptor acceptor_;
  std::thread server_;
  boost::asio::ip::tcp::socket socket_{context_};
};

}  // namespace bench
