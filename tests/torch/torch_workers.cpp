// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <vector>

#include "twinkle/flow/graph.hpp"
#include "twinkle/runtime/session.hpp"
#include "twinkle/sim/simulate.hpp"
#include "twinkle/torch/torch_evaluator.hpp"
#include "twinkle/torch/torch_model.hpp"
#include "twinkle/torch/torch_sampler.hpp"
#include "twinkle/workers/exact_match.hpp"
#include "twinkle/workers/grpo_advantage.hpp"
#include "twinkle/workers/jsonl_loader.hpp"

namespace tk = twinkle;

namespace {

// Sixteen prompts in a file of its own.
class prompts_file {
 public:
  prompts_file() {
    std::ofstream file(path);
    for (int row = 0; row < 16; ++row)
      file << "{\"prompt\": \"s" << 9 - row % 10 << row % 7 << "=\", \"answer\": \"" << std::min(9 - row % 10, row % 7)
           << std::max(9 - row % 10, row % 7) << "\"}\n";
  }
  ~prompts_file() { std::remove(path.c_str()); }
  prompts_file(const prompts_file&) = delete;
  prompts_file& operator=(const prompts_file&) = delete;

  std::string path = "torch_workers_prompts.jsonl";
};

struct shape {
  std::size_t samplers = 2;
  std::size_t models = 2;
  std::size_t staleness = 0;
};

tk::graph pipeline(const std::string& data, const shape& of = {}) {
  tk::graph g{"sort"};
  const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
  const tk::device_group rollout{.name = "rollout", .ranks = of.samplers};
  const tk::device_group trainer{.name = "trainer", .ranks = of.models};
  auto loader = g.spawn<tk::jsonl_loader>("loader", {host}, data, tk::jsonl_loader::options{.rows = 8, .epochs = 0});
  auto sampler = g.spawn<tk::torch_sampler>("sampler", {rollout},
                                            tk::torch_sampler::options{.samples_per_prompt = 4, .new_tokens_max = 3});
  auto judge = g.spawn<tk::exact_match>("judge", {host});
  auto advantage = g.spawn<tk::grpo_advantage>("advantage", {host});
  auto model = g.spawn<tk::torch_model>("model", {trainer},
                                        tk::torch_model::options{.supervised_data = data, .supervised_steps = 2});
  auto evaluator = g.spawn<tk::torch_evaluator>("evaluator", {host},
                                                tk::torch_evaluator::options{.data = data, .new_tokens_max = 3});
  loader.emits(&tk::jsonl_loader::next)
      .to(sampler, &tk::torch_sampler::sample, {.expands = 4})
      .to(judge, &tk::exact_match::score)
      .group_by(tk::parent)
      .to(advantage, &tk::grpo_advantage::advantages)
      .rebatch(32)
      .to(model, &tk::torch_model::train, {.max_staleness = of.staleness})
      .stop_after(4);
  model.publishes(&tk::torch_model::state, {.after = &tk::torch_model::train})
      .to(sampler, &tk::torch_sampler::load)
      .to(evaluator, &tk::torch_evaluator::grade, {.every = 2});
  model.keeps(&tk::torch_model::save, &tk::torch_model::restore);
  return g;
}

class recorder final : public tk::run_listener {
 public:
  void on_step(const tk::step_record& step) override { steps.push_back(step); }

  std::vector<tk::step_record> steps;
};

std::vector<std::vector<double>> numbers(const std::vector<tk::step_record>& steps) {
  std::vector<std::vector<double>> all;
  for (const tk::step_record& step : steps) {
    all.emplace_back();
    for (const tk::metric& each : step.values.items())
      all.back().push_back(each.value);
  }
  return all;
}

}  // namespace

TEST_CASE("torch bodies give the same numbers in simulation, under any schedule, and on threads") {
  const prompts_file data;
  for (const std::size_t staleness : {0U, 1U}) {
    const auto first = tk::sim::simulate(pipeline(data.path, {.staleness = staleness}), {.seed = 1});
    REQUIRE(first.ended);
    REQUIRE_FALSE(first.report.why);
    REQUIRE(first.steps.size() == 4);
    CHECK(numbers(tk::sim::simulate(pipeline(data.path, {.staleness = staleness}), {.seed = 2}).steps) ==
          numbers(first.steps));
    recorder seen;
    const tk::run_report report = tk::run(pipeline(data.path, {.staleness = staleness}), {}, seen);
    CHECK_FALSE(report.why);
    CHECK(numbers(seen.steps) == numbers(first.steps));
  }
}

TEST_CASE("at staleness 0 the trainer finds the log-probs of the sampler") {
  const prompts_file data;
  const auto seen = tk::sim::simulate(pipeline(data.path));
  for (const tk::step_record& step : seen.steps)
    CHECK(step.values.find("log_prob_difference").value() < 1e-4);
}

TEST_CASE("a run that goes on from a step has the numbers of one that did not stop, the optimiser's included") {
  const prompts_file data;
  for (const std::size_t staleness : {0, 1}) {
    std::vector<tk::checkpoint> saved;
    tk::sim::options how{.save_every = 1};
    how.on_saved = [&](const tk::checkpoint& made) { saved.push_back(made); };
    const auto whole = tk::sim::simulate(pipeline(data.path, {.staleness = staleness}), how);
    REQUIRE(saved.size() == 4);
    for (std::size_t step = 1; step < 4; ++step) {
      const auto rest = tk::sim::simulate(pipeline(data.path, {.staleness = staleness}), {.resumed = saved[step - 1]});
      REQUIRE(rest.ended);
      const std::vector<tk::step_record> behind(whole.steps.begin() + static_cast<std::ptrdiff_t>(step),
                                                whole.steps.end());
      CHECK(numbers(rest.steps) == numbers(behind));
    }
  }
}

TEST_CASE("a model is not restored from tensors that are missing or of another size") {
  const prompts_file data;
  std::optional<tk::checkpoint> last;
  tk::sim::options how{.save_every = 2};
  how.on_saved = [&](const tk::checkpoint& made) { last = made; };
  static_cast<void>(tk::sim::simulate(pipeline(data.path), how));
  const auto refused = [&](const std::string& name, bool shorter) {
    tk::checkpoint wrong = *last;
    std::vector<tk::named_tensor> tensors;
    for (tk::named_tensor each : last->state.tensors()) {
      if (each.name == name && !shorter)
        continue;
      if (each.name == name)
        each.value = {each.value.type, {1}, each.value.values.part(0, 4)};
      tensors.push_back(each);
    }
    wrong.state = tk::weights{tensors};
    const auto seen = tk::sim::simulate(pipeline(data.path), {.resumed = wrong});
    REQUIRE(seen.report.why);
    CHECK(seen.report.why->endpoint == "constructor");
    return seen.report.why->cause;
  };
  CHECK(refused("optimiser.steps", false) ==
        "restoring it as it was at step 4: there is no saved tensor 'optimiser.steps'");
  CHECK(refused("optimiser.first_moments", true).find("those to restore are of 1 and ") != std::string::npos);
  CHECK(refused("lm_head.weight", false).find("lm_head.weight") != std::string::npos);
}

TEST_CASE("one model rank trains as two do, up to rounding") {
  const prompts_file data;
  const auto two = tk::sim::simulate(pipeline(data.path));
  const auto one = tk::sim::simulate(pipeline(data.path, {.models = 1}));
  REQUIRE(one.steps.size() == two.steps.size());
  CHECK(one.steps[0].values.find("loss").value() == doctest::Approx(two.steps[0].values.find("loss").value()).epsilon(1e-3));
  CHECK(one.steps[0].digest == two.steps[0].digest);
}

TEST_CASE("weights of another model are refused where they are loaded") {
  struct stranger {
    tk::weights state(tk::context&) {
      return tk::weights{{{"conv1.weight", {tk::element::f32, {1}, tk::buffer::of(std::vector<float>{1})}}}};
    }
    tk::metrics train(tk::context&, const tk::batch&) { return {}; }
  };
  const prompts_file data;
  tk::graph g{"strange"};
  const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
  auto loader = g.spawn<tk::jsonl_loader>("loader", {host}, data.path);
  auto sampler = g.spawn<tk::torch_sampler>("sampler", {host}, tk::torch_sampler::options{});
  auto model = g.spawn<stranger>("model", {host});
  loader.emits(&tk::jsonl_loader::next).to(sampler, &tk::torch_sampler::sample).to(model, &stranger::train).stop_after(1);
  model.publishes(&stranger::state, {.after = &stranger::train}).to(sampler, &tk::torch_sampler::load);
  const auto seen = tk::sim::simulate(g);
  REQUIRE(seen.report.why);
  CHECK(seen.report.why->place.starts_with("strange/sampler"));
  CHECK(seen.report.why->cause.find("conv1.weight") != std::string::npos);
}
