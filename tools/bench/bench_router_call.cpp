// SPDX-License-Identifier: Apache-2.0
// What a router call adds to a bare CAF fan-out that carries the same payload handle and hands over alike: slices by
// data rank, identities checked, rows collected in order, deadlines set. Blocks of both sides take turns, so that what
// the machine does meanwhile meets both.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <semaphore>

#include "caf_fan_out.hpp"
#include "runtime/assembly.hpp"
#include "runtime/caf_world.hpp"
#include "twinkle/flow/graph.hpp"

namespace {

namespace tk = twinkle;

constexpr tk::column<std::int64_t> number{"number"};

struct source {
  std::optional<tk::batch> next(tk::context&) { return std::nullopt; }
};
struct echo {
  tk::batch pass(tk::context&, tk::batch rows) { return rows; }
};

tk::batch rows_for(std::size_t workers) {
  std::vector<tk::row_tag> tags(workers);
  for (std::size_t row = 0; row < tags.size(); ++row)
    tags[row].id.sequence = row;
  return tk::batch{}.with(number, std::vector<std::int64_t>(tags.size())).with_tags(std::move(tags));
}

class ours {
 public:
  ours(std::size_t workers, tk::bodies run) : rows_(rows_for(workers)), meter_(2) {
    tk::graph g{"bench"};
    const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
    const tk::device_group many{.name = "many", .ranks = workers};
    auto from = g.spawn<source>("source", {host});
    auto to = g.spawn<echo>("echo", {many, {}, run});
    static_cast<void>(from.emits(&source::next).to(to, &echo::pass));
    const auto placed = tk::runtime::prepare(g.plan());
    const tk::address client = tk::address::client(0);
    world_.spawn(client, std::make_unique<receiver>(*this));
    world_.spawn(tk::address::session(), std::make_unique<receiver>(*this));
    tk::runtime::spawn_stage(placed.stages[1], {}, world_.all(), meter_);
    post(tk::msg::build{});
    answered_.acquire();
  }
  ~ours() {
    post(tk::msg::abort{{"bench", "", {}, "the end"}, std::chrono::seconds(10)});
    answered_.acquire();
  }
  void call() {
    tk::route::call how{"pass"};
    how.input = rows_;
    post(tk::msg::call{next_++, tk::address::client(0), 0, std::move(how)});
    answered_.acquire();
  }

 private:
  struct receiver final : tk::actor_role {
    explicit receiver(ours& of) : of_(of) {}
    void receive(tk::message&& content) override {
      if (auto* answer = std::get_if<tk::msg::answer>(&content))
        tk::ensure(std::get<tk::batch>(std::get<tk::payload>(answer->value.value())).rows() == of_.rows_.rows(), "rows");
      of_.answered_.release();
    }
    ours& of_;
  };
  void post(tk::message&& content) { world_.post({}, tk::address::router(1), std::move(content)); }

  tk::batch rows_;
  tk::busy_meter meter_;
  std::counting_semaphore<8> answered_{0};
  std::uint64_t next_ = 0;
  tk::runtime::caf_world world_;
};

class bare {
 public:
  bare(std::size_t workers, tk::bodies run) : rows_(rows_for(workers)), workers_(workers) {
    std::vector<caf::actor> all;
    for (std::size_t at = 0; at < workers; ++at)
      all.push_back(system_.spawn<bench::bare_worker>(&router_, std::shared_ptr(executor_.make("bare", run))));
    router_ = system_.spawn<bench::bare_router>(all, [this](const std::vector<bench::part>&) { answered_.release(); });
    actors_ = all;
  }
  ~bare() {
    for (const caf::actor& each : actors_)
      caf::anon_send_exit(each, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(router_, caf::exit_reason::user_shutdown);
  }
  void call() {
    caf::anon_send(router_, bench::part{workers_, rows_});
    answered_.acquire();
  }

 private:
  static caf::actor_system_config& tuned(caf::actor_system_config& config) {
    config.set("work-stealing.moderate-poll-attempts", std::size_t{0});
    config.set("work-stealing.aggressive-poll-attempts", std::size_t{600});
    config.set("scheduler.max-throughput", std::size_t{50});
    config.set("scheduler.max-threads", std::size_t{2});
    return config;
  }

  tk::batch rows_;
  std::size_t workers_;
  std::counting_semaphore<8> answered_{0};
  tk::runtime::real_clock clock_;
  tk::runtime::real_executor executor_{clock_};
  caf::actor_system_config config_;
  caf::actor_system system_{tuned(config_)};
  caf::actor router_;
  std::vector<caf::actor> actors_;
};

struct quantiles {
  std::vector<double> p10;
  std::vector<double> p50;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

template <class Side>
void block(Side& side, std::size_t calls, quantiles& into) {
  std::vector<double> times;
  for (std::size_t call = 0; call < calls; ++call) {
    const auto start = std::chrono::steady_clock::now();
    side.call();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  into.p10.push_back(times[times.size() / 10]);
  into.p50.push_back(times[times.size() / 2]);
}

void router_call(benchmark::State& state) {
  const auto workers = static_cast<std::size_t>(state.range(0));
  const auto run = state.range(1) == 0 ? tk::bodies::shared : tk::bodies::own_thread;
  const std::size_t calls = workers > 100 ? 50 : 200;
  ours left{workers, run};
  bare right{workers, run};
  quantiles ours_us;
  quantiles bare_us;
  for ([[maybe_unused]] const auto once : state)
    for (int round = 0; round < 21; ++round) {  // the first warms up
      if (round == 1)
        ours_us = bare_us = {};
      block(left, calls, ours_us);
      block(right, calls, bare_us);
    }
  state.counters["bare_p50_us"] = median(bare_us.p50);
  state.counters["call_p50_us"] = median(ours_us.p50);
  state.counters["added_p10_us"] = median(ours_us.p10) - median(bare_us.p10);
  state.counters["added_p50_us"] = median(ours_us.p50) - median(bare_us.p50);
  state.counters["most_us"] = 20.0 + static_cast<double>(workers);
}

BENCHMARK(router_call)
    ->ArgNames({"workers", "threads"})
    ->Args({8, 0})
    ->Args({8, 1})
    ->Args({400, 0})
    ->Args({400, 1})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
