// SPDX-License-Identifier: Apache-2.0
// Simulated pipelines have to be cheap enough for thousands of seeds in a unit test: 500,000 events a second, where an
// event is a delivered message or a fired timer, and a step of 4,096 workers within 2 s. All bodies are fakes that take
// virtual time.
#include <benchmark/benchmark.h>

#include <string>

#include "twinkle/flow/context.hpp"
#include "twinkle/flow/graph.hpp"
#include "twinkle/sim/simulate.hpp"

namespace {

namespace tk = twinkle;
using namespace std::chrono_literals;

struct loader {
  std::optional<tk::batch> next(tk::context&) { return std::nullopt; }
};
struct sampler {
  tk::batch sample(tk::context&, tk::batch prompts) { return prompts; }
  void load(tk::context&, tk::weights) {}
};
struct model {
  tk::metrics train(tk::context&, tk::batch) { return {}; }
  tk::weights state(tk::context&) { return {}; }
};

constexpr tk::column<std::int64_t> number{"number"};

tk::graph pipeline(std::size_t samplers, std::size_t steps) {
  tk::graph g{"bench"};
  const std::size_t rows = samplers;
  auto prompts = g.spawn<loader>("loader", {{.name = "host", .ranks = 1, .device_type = "cpu"}});
  auto rollout = g.spawn<sampler>("sampler", {{.name = "rollout", .ranks = samplers}});
  auto trainer = g.spawn<model>("model", {{.name = "trainer", .ranks = 2}});
  auto trained = prompts.emits(&loader::next, {.rows = rows})
                     .to(rollout, &sampler::sample, {.retries = 1})
                     .rebatch(rows)
                     .to(trainer, &model::train, {.small = tk::small::allow_empty, .max_staleness = 1});
  trainer.publishes(&model::state, {.after = &model::train}).to(rollout, &sampler::load);
  trained.stop_after(steps);
  return g;
}

std::vector<tk::sim::rule> fakes(std::size_t rows) {
  return {tk::sim::fake("loader", &loader::next,
                        [rows](tk::context&) -> std::optional<tk::batch> {
                          return tk::batch{}.with(number, std::vector<std::int64_t>(rows));
                        }),
          tk::sim::fake("sampler", &sampler::sample, [](tk::context&, tk::batch prompts) { return prompts; }),
          tk::sim::fake("sampler", &sampler::load, [](tk::context&, tk::weights) {}),
          tk::sim::fake("model", &model::train, [](tk::context&, tk::batch) { return tk::metrics{}; }),
          tk::sim::fake("model", &model::state, [](tk::context&) { return tk::weights{}; }),
          tk::sim::cost("sampler", &sampler::sample, [](tk::sim::work w) { return 1ms * w.random.below(1000); }),
          tk::sim::cost("model", &model::train, [](tk::sim::work) { return tk::duration(200ms); })};
}

std::string complaint(const tk::sim::outcome& seen, std::size_t steps) {
  if (!seen.violations.empty())
    return to_string(seen.violations.front());
  if (seen.report.why)
    return to_string(*seen.report.why);
  if (seen.ended && seen.steps.size() == steps)
    return "";
  return std::to_string(seen.steps.size()) + " of " + std::to_string(steps) + " steps were trained in " +
         tk::to_string(seen.at) + (seen.ended ? "" : ", and it goes on");
}

void simulated(benchmark::State& state, std::size_t samplers, std::size_t steps) {
  const tk::graph g = pipeline(samplers, steps);
  std::size_t events = 0;
  for ([[maybe_unused]] const auto once : state) {
    const auto seen = tk::sim::simulate(g, {.seed = events + 1, .rules = fakes(samplers)});
    if (const std::string why = complaint(seen, steps); !why.empty()) {
      state.SkipWithError(why.c_str());
      return;
    }
    events += seen.events;
  }
  state.counters["events_per_s"] = benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
  state.counters["events_per_step"] =
      static_cast<double>(events) / static_cast<double>(state.iterations()) / static_cast<double>(steps);
}

BENCHMARK_CAPTURE(simulated, four_samplers, 4, 1'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulated, sixty_four_samplers, 64, 100)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulated, a_step_of_4096, 4'096, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulated, ten_steps_of_4096, 4'096, 10)->Unit(benchmark::kMillisecond);

}  // namespace
