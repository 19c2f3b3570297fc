// SPDX-License-Identifier: Apache-2.0
// What the bulk plane keeps of a plain blocking Asio program's throughput over loopback: a header and a gathered write
// on one side, reads into place on the other. Fetches of both take turns, so that what the machine does meanwhile meets
// both.
#include <benchmark/benchmark.h>

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstring>
#include <semaphore>
#include <thread>

#include "net/bulk/bulk_plane.hpp"

namespace {

namespace tk = twinkle;
namespace asio = boost::asio;
using asio::ip::tcp;
using bytes = std::vector<std::byte>;

constexpr std::size_t all_bytes = std::size_t{64} << 20;

// A thread that answers a number with that many bytes of what it keeps; 0 ends it.
class plain {
 public:
  explicit plain(const bytes& kept) : acceptor_(context_, {asio::ip::address_v4::loopback(), 0}), server_([&] { serve(kept); }) {
    socket_.connect(acceptor_.local_endpoint());
    socket_.set_option(tcp::no_delay(true));
  }
  ~plain() {
    ask(0);
    server_.join();
  }
  void fetch(std::size_t count, bytes& into) {
    ask(count);
    std::uint64_t length = 0;
    asio::read(socket_, asio::buffer(&length, sizeof(length)));
    asio::read(socket_, asio::buffer(into.data(), length), all);
  }

 private:
  static std::size_t all(boost::system::error_code failed, std::size_t) { return failed ? 0 : all_bytes; }

  void ask(std::uint64_t count) { asio::write(socket_, asio::buffer(&count, sizeof(count))); }
  void serve(const bytes& kept) {
    tcp::socket socket = acceptor_.accept();
    socket.set_option(tcp::no_delay(true));
    while (true) {
      std::uint64_t count = 0;
      asio::read(socket, asio::buffer(&count, sizeof(count)));
      if (count == 0)
        return;
      const std::array<asio::const_buffer, 2> answer{asio::buffer(&count, sizeof(count)),
                                                     asio::buffer(kept.data(), count)};
      asio::write(socket, answer, all);
    }
  }

  asio::io_context context_;
  tcp::acceptor acceptor_;
  std::thread server_;
  tcp::socket socket_{context_};
};

class ours {
 public:
  explicit ours(const bytes& kept) : key_(kept_.keep(tk::buffer{kept.data(), kept.size(), nullptr})) {
    const std::vector<tk::net::bulk_peer> peers{{"a", "127.0.0.1", a_.port(), 0}, {"b", "127.0.0.1", b_.port(), 1}};
    a_.know(peers);
    b_.know(peers);
  }
  void fetch(std::size_t count, bytes& into) {
    a_.fetch(1, {{key_, 0, count}}, std::span(into).first(count), [this](std::optional<std::string> cause) {
      if (cause)
        std::terminate();
      there_.release();
    });
    there_.acquire();
  }

 private:
  static tk::net::bulk_options options(std::size_t node) {
    tk::net::bulk_options how;
    how.node = node;
    how.incarnation = node;
    return how;
  }

  tk::net::bulk_store kept_;
  std::uint64_t key_;
  std::binary_semaphore there_{0};
  tk::net::bulk_plane a_{options(0), kept_};
  tk::net::bulk_plane b_{options(1), kept_};
};

template <class Side>
double seconds_of(Side& side, std::size_t fetches, std::size_t count, bytes& into) {
  const auto began = std::chrono::steady_clock::now();
  for (std::size_t at = 0; at < fetches; ++at)
    side.fetch(count, into);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

void fetch_rows(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const std::size_t fetches = all_bytes / count;
  const bytes kept(all_bytes, std::byte{7});
  bytes into(all_bytes);
  plain theirs(kept);
  ours mine(kept);
  double of_theirs = 0;
  double of_mine = 0;
  for (auto _ : state) {
    of_theirs += seconds_of(theirs, fetches, count, into);
    const double seconds = seconds_of(mine, fetches, count, into);
    of_mine += seconds;
    state.SetIterationTime(seconds);
  }
  const double moved = static_cast<double>(all_bytes) * static_cast<double>(state.iterations());
  state.counters["GB/s"] = moved / of_mine * 1e-9;
  state.counters["plain GB/s"] = moved / of_theirs * 1e-9;
  state.counters["ratio"] = of_theirs / of_mine;
}
BENCHMARK(fetch_rows)->Arg(1 << 20)->Arg(64 << 20)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(40);

}  // namespace
