// SPDX-License-Identifier: Apache-2.0
// What the bulk plane keeps of a plain blocking Asio program's throughput over loopback: a header and a gathered write
// on one side, reads into place on the other. Fetches of both take turns, so that what the machine does meanwhile meets
// both. Bytes on the wire are those that the machine received by IP, headers and acknowledgements too, for each byte
// asked for.
#include <benchmark/benchmark.h>

#include <chrono>
#include <fstream>
#include <semaphore>
#include <sstream>

#include "net/bulk/bulk_plane.hpp"
#include "plain_asio.hpp"

namespace {

namespace tk = twinkle;
using bytes = std::vector<std::byte>;

constexpr std::size_t all_bytes = std::size_t{64} << 20;

class ours {
 public:
  explicit ours(const bytes& kept) : key_(kept_.keep(tk::buffer{kept.data(), kept.size(), nullptr})) {
    const std::vector<tk::net::bulk_peer> peers{{"a", "127.0.0.1", a_.port(), 1}, {"b", "127.0.0.1", b_.port(), 2}};
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
    how.incarnation = node + 1;
    return how;
  }

  tk::net::bulk_store kept_;
  std::uint64_t key_;
  std::binary_semaphore there_{0};
  tk::net::bulk_plane a_{options(0), kept_};
  tk::net::bulk_plane b_{options(1), kept_};
};

// What this machine received by IP, or 0 where that cannot be known.
double received() {
  std::ifstream counters("/proc/net/netstat");
  std::string names;
  std::string values;
  while (std::getline(counters, names) && std::getline(counters, values))
    if (names.starts_with("IpExt:")) {
      std::istringstream name(names);
      std::istringstream value(values);
      std::string of;
      std::string count;
      while (name >> of && value >> count)
        if (of == "InOctets")
          return std::stod(count);
    }
  return 0;
}

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
  bench::plain theirs(kept);
  ours mine(kept);
  double of_theirs = 0;
  double of_mine = 0;
  double on_wire = 0;
  for (auto _ : state) {
    of_theirs += seconds_of(theirs, fetches, count, into);
    const double before = received();
    const double seconds = seconds_of(mine, fetches, count, into);
    on_wire += received() - before;
    of_mine += seconds;
    state.SetIterationTime(seconds);
  }
  const double moved = static_cast<double>(all_bytes) * static_cast<double>(state.iterations());
  state.counters["GB/s"] = moved / of_mine * 1e-9;
  state.counters["plain GB/s"] = moved / of_theirs * 1e-9;
  state.counters["ratio"] = of_theirs / of_mine;
  state.counters["bytes on the wire"] = on_wire / moved;
}
BENCHMARK(fetch_rows)->Arg(1 << 20)->Arg(64 << 20)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(40);

}  // namespace
