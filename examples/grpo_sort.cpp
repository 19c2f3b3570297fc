// SPDX-License-Identifier: Apache-2.0
// A policy learns to sort five digits with GRPO: prompts from a file, samplers, a judge, a model, and the model's
// weights back to the samplers.
#include <string>

#include "grpo_sort_simulated.hpp"
#include "twinkle/runtime/main.hpp"
#include "twinkle/torch/torch_evaluator.hpp"
#include "twinkle/torch/torch_model.hpp"
#include "twinkle/torch/torch_sampler.hpp"
#include "twinkle/workers/exact_match.hpp"
#include "twinkle/workers/grpo_advantage.hpp"
#include "twinkle/workers/jsonl_loader.hpp"

// run: --steps 2
// run: plan
// run: simulate --steps 20 --staleness 1
// run: simulate --steps 20 --seeds 3 --faults swarm --nodes 3

namespace tk = twinkle;

// [pipeline]
void grpo(tk::graph& g) {
  const auto data = g.option("data", TWINKLE_EXAMPLE_DATA "/sort_train.jsonl", "prompts and answers");
  const auto heldout = g.option("heldout", TWINKLE_EXAMPLE_DATA "/sort_heldout.jsonl", "the same, for grading");
  const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
  const tk::device_group rollout{.name = "rollout", .ranks = g.option("sampler-dp", 4, "data ranks of the sampler")};
  const tk::device_group trainer{.name = "trainer", .ranks = g.option("model-dp", 2, "data ranks of the model")};

  auto loader = g.spawn<tk::jsonl_loader>("loader", {host}, data, tk::jsonl_loader::options{
      .rows = 32, .last = tk::jsonl_loader::last_batch::drop, .epochs = 0, .seed = g.seed()});
  auto sampler = g.spawn<tk::torch_sampler>("sampler", {rollout}, tk::torch_sampler::options{.samples_per_prompt = 8});
  auto judge = g.spawn<tk::exact_match>("judge", {host, {}, tk::bodies::shared});
  auto advantage = g.spawn<tk::grpo_advantage>("advantage", {host, {}, tk::bodies::shared});
  auto model = g.spawn<tk::torch_model>("model", {trainer}, tk::torch_model::options{.supervised_data = data});
  auto evaluator = g.spawn<tk::torch_evaluator>("evaluator", {host}, tk::torch_evaluator::options{.data = heldout});

  auto prompts = loader.emits(&tk::jsonl_loader::next);
  auto rollouts = prompts.to(sampler, &tk::torch_sampler::sample, {.name = "sample", .expands = 8, .retries = 2});
  auto scored = rollouts.to(judge, &tk::exact_match::score, {.name = "score"});
  auto groups = scored.group_by(tk::parent).to(advantage, &tk::grpo_advantage::advantages, {.name = "advantages"});
  auto steps = groups.rebatch(256).to(model, &tk::torch_model::train,
      {.name = "train", .max_staleness = g.option<std::size_t>("staleness", 0, "versions that a row may be old")});
  model.publishes(&tk::torch_model::state, {.after = &tk::torch_model::train})
      .to(sampler, &tk::torch_sampler::load)
      .to(evaluator, &tk::torch_evaluator::grade, {.every = 1000000});
  model.keeps(&tk::torch_model::save, &tk::torch_model::restore);
  steps.stop_after(g.option<std::size_t>("steps", 120, "training steps"));
}
int main(int argc, char** argv) { return tk::main(argc, argv, grpo, sorted::simulated()); }
// [pipeline]
