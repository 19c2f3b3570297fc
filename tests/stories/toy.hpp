// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "twinkle/flow/context.hpp"
#include "twinkle/flow/graph.hpp"
#include "twinkle/flow/run_report.hpp"

/// A small pipeline with everything in it: a source, samplers (dp 4) that make two rows of each, groups, batches, a
/// model (dp 2) with an all-reduce, weights that go back.
namespace toy {

inline constexpr twinkle::column<std::int64_t> number{"number"};
inline constexpr twinkle::column<double> value{"value"};

/// What a test wants to go wrong: called by each body with its place and endpoint, it may throw or block.
using sabotage = std::function<void(twinkle::context&, const std::string& endpoint)>;

struct source {
  source(twinkle::context& ctx, std::size_t rows, std::size_t batches, sabotage harm = {});
  std::optional<twinkle::batch> next(twinkle::context& ctx);

  std::size_t rows;
  std::size_t left;
  std::int64_t counter = 0;
  sabotage harm;
};

struct sampler {
  sampler(twinkle::context& ctx, sabotage harm = {});
  twinkle::batch sample(twinkle::context& ctx, twinkle::batch prompts);
  void load(twinkle::context& ctx, twinkle::weights newest);

  double weight = -1;
  sabotage harm;
};

struct model {
  model(twinkle::context& ctx, sabotage harm = {});
  twinkle::metrics train(twinkle::context& ctx, twinkle::batch rows);
  twinkle::weights state(twinkle::context& ctx);
  twinkle::weights save(twinkle::context& ctx);
  void restore(twinkle::context& ctx, twinkle::weights saved);

  double weight = 1;
  sabotage harm;
};

struct judge {
  twinkle::metrics grade(twinkle::context& ctx, twinkle::weights newest);
};

struct shape {
  std::size_t rows = 8;       ///< a source batch
  std::size_t batches = 0;    ///< 0: more than any test needs
  std::size_t step = 16;      ///< rows a step
  std::size_t steps = 6;
  std::size_t bound = 1;      ///< versions
  std::size_t samplers = 4;
  bool keeps = false;         ///< the model, for a run that is resumed
  twinkle::bodies run = twinkle::bodies::own_thread;
  sabotage harm = {};
  std::size_t retries = 0;    ///< of the sampler
  std::size_t respawns = 0;   ///< of the sampler
  twinkle::failing failed = twinkle::failing::ends_run;
};

/// Never returns, whatever it is told.
void ignore_everything(twinkle::context& ctx);

void build(twinkle::graph& g, const shape& of = {});
[[nodiscard]] twinkle::graph pipeline(const shape& of = {});

/// The fault of a run in words; empty if it ended well.
[[nodiscard]] std::string why(const twinkle::run_report& report);

}  // namespace toy
