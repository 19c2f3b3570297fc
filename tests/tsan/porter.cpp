// SPDX-License-Identifier: Apache-2.0
#include "net/porter.hpp"

#include <doctest/doctest.h>

#include <array>
#include <condition_variable>
#include <cstring>
#include <map>
#include <thread>

#include "net/bulk/bulk_store.hpp"
#include "runtime/real_executor.hpp"

namespace tk = twinkle;
using tk::address;

namespace {

constexpr std::size_t here = 1, there = 0;
constexpr tk::ragged<float> wide{"wide"};
constexpr std::size_t width = 50;

// Answers fetches on one thread and does what takes long on two others.
class threads final : public tk::net::gateway_world {
 public:
  [[nodiscard]] tk::time_point now() const override { return {}; }
  void send(std::uint64_t, std::vector<std::byte>) override {}
  void close(std::uint64_t) override {}
  std::uint64_t keep(const tk::buffer& bytes) override { return kept.keep(bytes); }
  [[nodiscard]] std::optional<tk::buffer> find(std::uint64_t) const override { return std::nullopt; }
  void release(std::uint64_t key) override { kept.release(key); }
  void know(std::vector<tk::net::bulk_peer>) override {}
  void fetch(std::size_t, std::vector<tk::bulk_range> what, std::span<std::byte> into,
             std::function<void(std::optional<std::string>)> then) override {
    answers_->run([this, what = std::move(what), into, then = std::move(then)] {
      std::size_t at = 0;
      for (const tk::bulk_range& each : what) {
        std::memcpy(into.data() + at, kept.find(each.key)->data() + each.first, each.bytes);
        at += each.bytes;
      }
      then(std::nullopt);
    });
  }
  void aside(std::function<void()> what) override { aside_[next_++ % aside_.size()]->run(std::move(what)); }
  void deliver(const address&, const address& to, tk::message&& content) override {
    const std::lock_guard lock(mutex_);
    got_[to].push_back(std::get<tk::msg::task>(std::move(content)));
    ++count_;
    changed_.notify_all();
  }

  [[nodiscard]] std::map<address, std::vector<tk::msg::task>> got(std::size_t tasks) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ == tasks; });
    return got_;
  }

  /// Its threads are through with what they do.
  void stop() {
    answers_.reset();
    for (auto& each : aside_)
      each.reset();
  }

  tk::net::bulk_store kept{1};

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<address, std::vector<tk::msg::task>> got_;
  std::size_t count_ = 0;
  std::atomic<std::size_t> next_ = 0;
  tk::runtime::real_clock clock_;
  tk::runtime::real_executor executor_{clock_};
  std::unique_ptr<tk::body_seam> answers_ = executor_.make("answers", tk::bodies::own_thread);
  std::array<std::unique_ptr<tk::body_seam>, 2> aside_{executor_.make("aside", tk::bodies::own_thread),
                                                  executor_.make("aside", tk::bodies::own_thread)};
};

tk::batch rows_from(float first, std::size_t count) {
  std::vector<std::vector<float>> values;
  for (std::size_t row = 0; row < count; ++row)
    values.emplace_back(width, first + static_cast<float>(row));
  return tk::batch{}.with(wide, values);
}

}  // namespace

TEST_CASE("whichever thread brings, fetches or puts together, each worker gets its tasks in order, and whole") {
  constexpr std::size_t workers = 4, tasks = 60, rows = 20;
  threads world;
  tk::net::porter brings(
      world, here, [](const address&, const tk::message&) { return tk::shard_rule{}; },
      [](const address&, tk::message&&, const std::string& why) {
        FAIL_CHECK(why);
        return true;
      });
  const tk::batch far = leave_behind(rows_from(0, rows), [&](const tk::buffer& bytes) {
    return tk::buffer{std::make_shared<const tk::far_bytes>(there, world.keep(bytes)), 0, bytes.bytes()};
  });
  {
    std::vector<std::thread> routers;
    for (std::size_t worker = 0; worker < workers; ++worker)
      routers.emplace_back([&, worker] {
        for (std::size_t call = 0; call < tasks; ++call) {
          tk::msg::task made;
          made.call = call;
          // Here, there, and of both, which has to be put together.
          const tk::batch own = rows_from(static_cast<float>(call), rows);
          if (call % 3 != 1)
            made.input = tk::payload{call % 3 == 0 ? own : tk::batch::concat(std::vector{far, own})};
          else
            made.input = tk::payload{far};
          brings.bring(address::router(0), address::worker(0, worker), std::move(made));
        }
      });
    for (std::thread& each : routers)
      each.join();
  }
  const auto got = world.got(workers * tasks);
  world.stop();
  REQUIRE(got.size() == workers);
  for (const auto& [who, all] : got) {
    REQUIRE(all.size() == tasks);
    for (std::size_t call = 0; call < tasks; ++call) {
      CHECK(all[call].call == call);
      const auto& batch = std::get<tk::batch>(all[call].input);
      CHECK(batch[wide][0][0] == (call % 3 == 0 ? static_cast<float>(call) : 0.0F));
      const float last = batch[wide][batch.rows() - 1][width - 1];
      CHECK(last == static_cast<float>(rows - 1) + (call % 3 == 1 ? 0.0F : static_cast<float>(call)));
    }
  }
}
