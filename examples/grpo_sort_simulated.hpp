// SPDX-License-Identifier: Apache-2.0
// What grpo_sort is simulated with: no torch. Rollouts are right as often as the version of the weights says, and bodies
// take about the times that the real ones take.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "twinkle/flow/context.hpp"
#include "twinkle/sim/heavy_tail.hpp"
#include "twinkle/sim/story.hpp"
#include "twinkle/torch/torch_evaluator.hpp"
#include "twinkle/torch/torch_model.hpp"
#include "twinkle/torch/torch_sampler.hpp"
#include "twinkle/workers/columns.hpp"

namespace sorted {

namespace tk = twinkle;
using namespace std::chrono_literals;

// Eight of each prompt, of which more are right from version to version.
inline tk::batch sample(tk::context& ctx, const tk::batch& prompts) {
  std::vector<std::size_t> parents;
  for (std::size_t row = 0; row < prompts.rows(); ++row)
    parents.insert(parents.end(), 8, row);
  const tk::batch rollouts = prompts.expand(parents);
  const auto answers = rollouts[tk::columns::answer];
  std::vector<std::string> completions;
  for (std::size_t row = 0; row < rollouts.rows(); ++row) {
    const bool right = ctx.random(rollouts.tags()[row].id, "right").uniform() < 0.3 + 0.005 * static_cast<double>(ctx.version());
    completions.emplace_back(right ? answers[row] : "…");
  }
  return rollouts.with(tk::columns::completion, completions);
}

inline tk::metrics train(tk::context&, const tk::batch& rows) {
  double sum = 0;
  for (const float each : rows[tk::columns::reward])
    sum += each;
  return tk::metrics{}.mean("reward_mean", sum / static_cast<double>(std::max<std::size_t>(rows.rows(), 1)));
}

inline tk::sim::story simulated() {
  tk::sim::story told;
  told.fake("sampler", &tk::torch_sampler::sample, sample)
      .fake("sampler", &tk::torch_sampler::load, [](tk::context&, const tk::weights&) {})
      .fake("model", &tk::torch_model::train, train)
      .fake("model", &tk::torch_model::state, [](tk::context&) { return tk::weights{}; })
      .fake("model", &tk::torch_model::save, [](tk::context&) { return tk::weights{}; })
      .fake("model", &tk::torch_model::restore, [](tk::context&, const tk::weights&) {})
      .fake("evaluator", &tk::torch_evaluator::grade, [](tk::context&, const tk::weights&) { return tk::metrics{}; })
      .cost("sampler", &tk::torch_sampler::sample, [](tk::sim::work w) { return tk::sim::heavy_tail(w.random, 20ms); })
      .cost("model", &tk::torch_model::train, [](const tk::sim::work&) { return tk::duration(50ms); });
  return told;
}

}  // namespace sorted
