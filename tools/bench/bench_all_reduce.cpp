// SPDX-License-Identifier: Apache-2.0
// An all-reduce of a million floats between ranks on two nodes, over the bulk plane and loopback, against the time that
// a plain Asio program takes for as many bytes as have to cross. Both take turns.
#include <benchmark/benchmark.h>

#include <chrono>
#include <semaphore>

#include "net/bulk/bulk_plane.hpp"
#include "plain_asio.hpp"
#include "runtime/interruption.hpp"
#include "runtime/meeting_hall.hpp"
#include "runtime/real_executor.hpp"

namespace {

namespace tk = twinkle;

constexpr std::size_t count = std::size_t{1} << 20;

/// A node with one rank.
class rank final : public tk::runtime::hall_outside {
 public:
  explicit rank(std::size_t index) : index_(index) {
    plane_.on_message([this](std::size_t, const std::vector<std::byte>& head, tk::buffer body) {
      hall_.arrived(tk::letter_of(head, std::move(body)));
    });
  }
  [[nodiscard]] std::uint16_t port() const { return plane_.port(); }
  void know(const std::vector<tk::net::bulk_peer>& all) { plane_.know(all); }

  void begin(tk::route::call_id call) {
    body_->run([this, call] {
      break_.enter(call);
      hall_.begins(index_, call);
      hall_.all_reduce({call, {0, 1}, 0}, index_, break_, tk::element::f32, tk::reduction::sum,
                       std::as_writable_bytes(std::span(values_)));
      done_.release();
    });
  }
  void end() { done_.acquire(); }

  [[nodiscard]] std::size_t node_of(std::size_t worker) const override { return worker; }
  [[nodiscard]] std::size_t here() const override { return index_; }
  void send(std::size_t node, tk::hall_letter letter) override {
    std::vector<std::byte> head = tk::head_of(letter);
    plane_.send(node, std::move(head), std::move(letter.values));
  }

 private:
  static tk::net::bulk_options options(std::size_t node) {
    tk::net::bulk_options how;
    how.node = node;
    how.incarnation = node + 1;
    return how;
  }

  std::size_t index_;
  std::vector<float> values_ = std::vector<float>(count, 1.0F);
  tk::runtime::meeting_hall hall_{this};
  tk::runtime::real_clock clock_;
  tk::runtime::real_executor executor_{clock_};
  std::unique_ptr<tk::body_seam> body_ = executor_.make("rank", tk::bodies::own_thread);
  tk::runtime::interruption break_{body_->blocking()};
  std::binary_semaphore done_{0};
  tk::net::bulk_store kept_;
  tk::net::bulk_plane plane_{options(index_), kept_};
};

template <class Work>
double seconds_of(const Work& work) {
  const auto began = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

void all_reduce(benchmark::State& state) {
  const std::size_t crossing = 2 * count * sizeof(float);  // each half there, and its sum back
  const std::vector<std::byte> kept(crossing, std::byte{7});
  std::vector<std::byte> into(crossing);
  bench::plain theirs(kept);
  rank first(0);
  rank second(1);
  const std::vector<tk::net::bulk_peer> peers{{"a", "127.0.0.1", first.port(), 1}, {"b", "127.0.0.1", second.port(), 2}};
  first.know(peers);
  second.know(peers);
  tk::route::call_id call = 0;
  const auto meet = [&] {
    ++call;
    first.begin(call);
    second.begin(call);
    first.end();
    second.end();
  };
  meet();
  double of_theirs = 0;
  double of_mine = 0;
  for (auto _ : state) {
    of_theirs += seconds_of([&] { theirs.fetch(crossing, into); });
    const double seconds = seconds_of(meet);
    of_mine += seconds;
    state.SetIterationTime(seconds);
  }
  state.counters["plain ms"] = 1e3 * of_theirs / static_cast<double>(state.iterations());
  state.counters["times plain"] = of_mine / of_theirs;
}
BENCHMARK(all_reduce)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(200);

}  // namespace
