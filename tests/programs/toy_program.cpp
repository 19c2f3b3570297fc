// SPDX-License-Identifier: Apache-2.0
// The toy pipeline as a program that can be hurt from outside: --harm says how.
#include <stdexcept>

#include "stories/toy.hpp"
#include "twinkle/runtime/main.hpp"

namespace {

namespace tk = twinkle;
using namespace std::chrono_literals;

void hurt(const std::string& how, tk::context& ctx, const std::string& endpoint) {
  if (how == "throw-train" && endpoint == "train" && ctx.data_rank() == 1)
    throw std::runtime_error("planted in train");
  if (how == "missing-column" && endpoint == "sample")
    static_cast<void>(tk::batch{}.with(toy::number, {1, 2})[tk::text{"prompt"}]);
  if (how == "slow-train" && endpoint == "train")
    ctx.sleep_for(50ms);
  while (how == "forever" && endpoint == "sample" && ctx.data_rank() == 1)
    try {
      ctx.sleep_for(1h);
    } catch (const tk::stopped&) {
      // A body should let this pass; this one is broken.
    }
}

void build(tk::graph& g) {
  const std::string how = g.option("harm", "", "throw-train, missing-column, slow-train or forever");
  toy::shape shape;
  shape.steps = g.option<std::size_t>("steps", 6, "training steps");
  shape.samplers = g.option<std::size_t>("samplers", 4, "data ranks of the sampler");
  shape.rows = g.option<std::size_t>("rows", 8, "rows of a source batch");
  shape.keeps = true;
  shape.harm = [how](tk::context& ctx, const std::string& endpoint) { hurt(how, ctx, endpoint); };
  toy::build(g, shape);
}

}  // namespace

int main(int argc, char** argv) { return tk::main(argc, argv, build); }
