// SPDX-License-Identifier: Apache-2.0
// A CAF application with a pipeline inside: the run lives in the application's actor system, and one of its actors
// asks a stage of the running pipeline for its opinion.
#include <caf/all.hpp>
#include <cstdio>
#include <string>

#include "twinkle/flow/graph.hpp"
#include "twinkle/interop/caf.hpp"

namespace tk = twinkle;

constexpr tk::column<std::int64_t> number{"number"};
constexpr tk::column<std::int64_t> square{"square"};

struct counter {
  std::optional<tk::batch> next(tk::context&) {
    const std::int64_t first = 2 * made++;
    return tk::batch{}.with(number, {first, first + 1});
  }
  std::int64_t made = 0;
};

struct squarer {
  tk::batch squares(tk::context&, tk::batch rows) {
    std::vector<std::int64_t> made;
    for (const std::int64_t each : rows[number])
      made.push_back(each * each);
    return rows.with(square, std::move(made));
  }
};

void squares(tk::graph& g) {
  const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
  const tk::device_group pool{.name = "pool", .ranks = 2};
  auto numbers = g.spawn<counter>("counter", {host}).emits(&counter::next, {.rows = 2});
  numbers.to(g.spawn<squarer>("squarer", {pool}), &squarer::squares, {.name = "squares"}).stop_after(1000000000);
}

/// An actor of the application: it asks once, prints the answer, and asks the run to end.
class curious final : public caf::event_based_actor {
 public:
  curious(caf::actor_config& config, caf::actor squarers, tk::session* run)
      : caf::event_based_actor(config), squarers_(std::move(squarers)), run_(run) {}

  caf::behavior make_behavior() override {
    send(squarers_, tk::interop::call{"squares", tk::batch{}.with(number, {3, 14, 15})});
    return {[this](const tk::interop::answer& got) {
      if (!got.value)
        return end("fault: " + tk::to_string(got.value.failure()));
      std::string text = "squares:";
      for (const std::int64_t each : std::get<tk::batch>(std::get<tk::payload>(got.value.value()))[square])
        text += " " + std::to_string(each);
      end(text);
    }};
  }

 private:
  void end(const std::string& text) {
    std::puts(text.c_str());
    run_->interrupt();
    quit();
  }

  caf::actor squarers_;
  tk::session* run_;
};

int main() {
  caf::actor_system_config config;
  caf::actor_system system{config};
  tk::graph g{"squares"};
  squares(g);
  tk::run_listener nobody;
  tk::run_options options;
  options.system = &system;
  tk::session run{g, options, nobody};
  system.spawn<curious>(tk::interop::router(run, "squarer"), &run);
  const tk::run_report& report = run.wait();
  std::printf("the run ended %s\n", report.why ? tk::to_string(*report.why).c_str() : "well");
  return report.good() ? 0 : 1;
}
