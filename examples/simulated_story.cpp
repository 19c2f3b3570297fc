// SPDX-License-Identifier: Apache-2.0
// A worker of one's own, tested: the function that main would run is run in virtual time, on nodes that die, links that
// are cut and bodies that take as long as they are told to, in milliseconds and the same each time.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <optional>
#include <vector>

#include "twinkle/flow/context.hpp"
#include "twinkle/testing/simulation.hpp"

namespace tk = twinkle;
using namespace std::chrono_literals;

namespace {

constexpr tk::column<std::int64_t> prompt{"prompt"};
constexpr tk::column<std::int64_t> guess{"guess"};

struct loader {
  std::optional<tk::batch> next(tk::context&) {
    std::vector<std::int64_t> prompts;
    for (int row = 0; row < 8; ++row)
      prompts.push_back(made++);
    return tk::batch{}.with(prompt, std::move(prompts));
  }
  std::int64_t made = 0;
};

// What it draws for a row is the row's own: the same on any worker, at the second try, under any schedule.
struct guesser {
  tk::batch sample(tk::context& ctx, const tk::batch& prompts) {
    std::vector<std::int64_t> guesses;
    for (const tk::row_tag& row : prompts.tags())
      guesses.push_back(static_cast<std::int64_t>(ctx.random(row.id, "guess").below(100)));
    return prompts.with(guess, std::move(guesses));
  }
};

struct trainer {
  tk::metrics train(tk::context&, const tk::batch& rows) {
    double sum = 0;
    for (const std::int64_t each : rows[guess])
      sum += static_cast<double>(each);
    return tk::metrics{}.sum("guesses", sum);
  }
};

// [pipeline]
void guessing(tk::graph& g) {
  const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
  const tk::device_group rollout{.name = "rollout", .ranks = 4};
  auto prompts = g.spawn<loader>("loader", {host}).emits(&loader::next, {.name = "next", .rows = 8});
  auto sampler = g.spawn<guesser>("sampler", {rollout, {}, tk::bodies::own_thread, 8});
  auto model = g.spawn<trainer>("model", {host});
  prompts.to(sampler, &guesser::sample, {.name = "sample", .retries = 8})
      .to(model, &trainer::train, {.name = "train"})
      .stop_after(g.option<std::size_t>("steps", 20, "training steps"));
}
// [pipeline]

double guesses(const tk::sim::seen& of) {
  double sum = 0;
  for (const auto& step : of.steps_of("model"))
    sum += *step.what.values.find("guesses");
  return sum;
}

}  // namespace

// [story]
TEST_CASE_FIXTURE(tk::sim::simulation, "a crashed sampler loses no prompt") {
  nodes(2, 2).latency(1ms, 5ms);
  cost("sampler", &guesser::sample, [](tk::sim::work w) { return 10ms * w.rows; });
  at(100ms).crash("sampler", 1, 50ms);
  at(200ms).cut({1}, 100ms);

  const auto seen = run(guessing, 1min);

  CHECK(seen.steps("model") == 20);
  CHECK(seen.trained() == 160);
  CHECK(seen.unaccounted() == 0);
}
// [story]

// [swarm]
TEST_CASE_FIXTURE(tk::sim::simulation, "nothing that goes wrong changes what is trained") {
  const double calm = guesses(tell(guessing, 1min, 1, "").what);
  nodes(2, 2).cost("sampler", &guesser::sample, [](tk::sim::work w) { return 10ms * w.rows; });
  swarm({.until = 1s, .lasts_max = 500ms}).seeds(20);
  expect("the guesses are those of a run without mishaps", [=](const auto& seen) { return guesses(seen) == calm; });

  run(guessing, 1min);
}
// [swarm]
