// SPDX-License-Identifier: Apache-2.0
// A story that fails, so that docs/simulation.md can show how: its worker keeps something of its own that its rows
// depend on.
#include <optional>
#include <vector>

#include "twinkle/base/random.hpp"
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

struct guesser {
  tk::batch sample(tk::context&, const tk::batch& prompts) {
    std::vector<std::int64_t> guesses;
    for (std::size_t row = 0; row < prompts.rows(); ++row)
      guesses.push_back(static_cast<std::int64_t>(random.below(100)));
    return prompts.with(guess, std::move(guesses));
  }
  tk::generator random{1};  // wrong: it is context.random(row, …) that goes with the row
};

struct trainer {
  tk::metrics train(tk::context&, const tk::batch& rows) {
    double sum = 0;
    for (const std::int64_t each : rows[guess])
      sum += static_cast<double>(each);
    return tk::metrics{}.sum("guesses", sum);
  }
};

void guessing(tk::graph& g) {
  const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
  const tk::device_group rollout{.name = "rollout", .ranks = 2};
  auto prompts = g.spawn<loader>("loader", {host}).emits(&loader::next, {.name = "next", .rows = 8});
  auto sampler = g.spawn<guesser>("sampler", {rollout, {}, tk::bodies::own_thread, 4});
  auto model = g.spawn<trainer>("model", {host});
  prompts.to(sampler, &guesser::sample, {.name = "sample", .retries = 4})
      .to(model, &trainer::train, {.name = "train"})
      .stop_after(20);
}

double guesses(const tk::sim::seen& of) {
  double sum = 0;
  for (const auto& step : of.steps_of("model"))
    sum += *step.what.values.find("guesses");
  return sum;
}

}  // namespace

TEST_CASE_FIXTURE(tk::sim::simulation, "nothing that goes wrong changes what is trained") {
  const double calm = guesses(tell(guessing, 1min, 1, "").what);
  nodes(2, 1).cost("sampler", &guesser::sample, [](const tk::sim::work& w) { return 10ms * w.rows; });
  at(100ms).drag("sampler", 0, 50ms).slow("sampler", 0, 3, 1s);
  at(213ms).crash("sampler", 1, 100ms);
  at(300ms).stall("loader", 50ms).freeze(1, 200ms);
  expect("the guesses are those of a run without mishaps", [=](const auto& seen) { return guesses(seen) == calm; });

  const auto seen = run(guessing, 1min);

  CHECK(seen.steps("model") == 20);
  CHECK(seen.setbacks() == 0);
}
