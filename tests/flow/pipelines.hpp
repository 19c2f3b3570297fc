// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "twinkle/flow/context.hpp"
#include "twinkle/flow/graph.hpp"

/// Workers that do nothing, for the tests of what a graph says before it runs.
namespace flow_test {

struct origin {
  explicit origin(twinkle::emission) {}
  static twinkle::emission emits(const twinkle::emission& made) { return made; }
  std::optional<twinkle::batch> next(twinkle::context&) { return std::nullopt; }
};

struct sampler {
  twinkle::batch sample(twinkle::context&, twinkle::batch rows) { return rows; }
  void load(twinkle::context&, twinkle::weights) {}
};

struct trainer {
  twinkle::metrics train(twinkle::context&, twinkle::batch) { return {}; }
  twinkle::batch pass(twinkle::context&, twinkle::batch rows) { return rows; }
  twinkle::weights state(twinkle::context&) { return {}; }
};

// The stages of the pipeline below, by their ordinals.
inline constexpr std::size_t prompts_at = 0;
inline constexpr std::size_t sampler_at = 1;
inline constexpr std::size_t model_at = 2;

/// prompts -> sampler (x expands) -> group_by(parent).rebatch(step) -> trainer => sampler
struct shape {
  twinkle::emission emits{8, 8, true};
  twinkle::device_group rollout{.name = "rollout", .ranks = 4};
  twinkle::device_group training{.name = "training", .ranks = 2};
  std::optional<twinkle::device_mesh> mesh = std::nullopt;
  twinkle::to_options sample{.name = "sample", .expands = 4};
  std::optional<std::size_t> step = 16;
  twinkle::regroup_options buffers = {};
  twinkle::to_options train{.name = "train", .max_staleness = 1};
  twinkle::load_options load{.name = "load"};
  std::size_t steps = 10;
  std::size_t respawns = 0;  ///< of the sampler
};

inline twinkle::graph pipeline(const shape& of = {}) {
  twinkle::graph g{"test"};
  const twinkle::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
  auto prompts = g.spawn<origin>("prompts", {host}, of.emits);
  auto samplers = g.spawn<sampler>("sampler", {of.rollout, {}, twinkle::bodies::own_thread, of.respawns});
  auto model = g.spawn<trainer>("model", {of.training, of.mesh});
  auto rows = prompts.emits(&origin::next, {.name = "next"})
                  .to(samplers, &sampler::sample, of.sample)
                  .group_by(twinkle::parent, of.buffers);
  if (of.step)
    rows = rows.rebatch(*of.step, {.buffer = of.buffers.buffer});
  rows.to(model, &trainer::train, of.train).stop_after(of.steps);
  model.publishes(&trainer::state, {.after = &trainer::train, .name = "state"}).to(samplers, &sampler::load, of.load);
  return g;
}

}  // namespace flow_test
