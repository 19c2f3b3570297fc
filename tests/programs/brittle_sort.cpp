// SPDX-License-Identifier: Apache-2.0
// The pipeline of examples/grpo_sort with a sampler that breaks: --harm says how, --each after how many of its bodies.
#include <atomic>
#include <memory>
#include <stdexcept>

#include "twinkle/flow/context.hpp"
#include "twinkle/runtime/main.hpp"
#include "twinkle/torch/torch_model.hpp"
#include "twinkle/torch/torch_sampler.hpp"
#include "twinkle/workers/exact_match.hpp"
#include "twinkle/workers/grpo_advantage.hpp"
#include "twinkle/workers/jsonl_loader.hpp"

namespace {

namespace tk = twinkle;
using namespace std::chrono_literals;

// All samplers of a run count together, so that one that is sampled again is not struck each time.
struct harm {
  std::string how;
  std::size_t each = 0;
  std::shared_ptr<std::atomic<std::size_t>> bodies = std::make_shared<std::atomic<std::size_t>>(0);
};

class brittle_sampler {
 public:
  explicit brittle_sampler(const harm& what) : sampler_({.samples_per_prompt = 8}), what_(what) {}

  tk::batch sample(tk::context& ctx, const tk::batch& prompts) {
    if (++*what_.bodies % what_.each == 0) {
      if (what_.how == "throw")
        throw std::runtime_error("this sampler breaks now and then");
      while (what_.how == "hang")
        hang(ctx);
    }
    return sampler_.sample(ctx, prompts);
  }
  void load(tk::context& ctx, const tk::weights& newest) { sampler_.load(ctx, newest); }

 private:
  static void hang(tk::context& ctx) {
    try {
      ctx.sleep_for(1h);
    } catch (const tk::stopped&) {
      // A body should let this pass; this one is broken.
    }
  }

  tk::torch_sampler sampler_;
  harm what_;
};

void build(tk::graph& g) {
  const auto data = g.option("data", "", "prompts and answers");
  const harm what{g.option("harm", "", "throw or hang"), g.option<std::size_t>("each", 1000000, "bodies")};
  const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
  auto loader = g.spawn<tk::jsonl_loader>("loader", {host}, data, tk::jsonl_loader::options{
      .rows = 32, .last = tk::jsonl_loader::last_batch::drop, .epochs = 0, .seed = g.seed()});
  auto sampler = g.spawn<brittle_sampler>(
      "sampler", {{.name = "rollout", .ranks = 4}, {}, tk::bodies::own_thread, 8}, what);
  auto judge = g.spawn<tk::exact_match>("judge", {host, {}, tk::bodies::shared});
  auto advantage = g.spawn<tk::grpo_advantage>("advantage", {host, {}, tk::bodies::shared});
  auto model = g.spawn<tk::torch_model>("model", {{.name = "trainer", .ranks = 2}},
                                        tk::torch_model::options{.supervised_data = data});
  loader.emits(&tk::jsonl_loader::next)
      .to(sampler, &brittle_sampler::sample, {.name = "sample", .expands = 8, .deadline = 5s, .retries = 2})
      .to(judge, &tk::exact_match::score)
      .group_by(tk::parent)
      .to(advantage, &tk::grpo_advantage::advantages)
      .rebatch(256)
      .to(model, &tk::torch_model::train, {.name = "train", .max_staleness = 0})
      .stop_after(g.option<std::size_t>("steps", 12, "training steps"));
  model.publishes(&tk::torch_model::state, {.after = &tk::torch_model::train})
      .to(sampler, &brittle_sampler::load, {.name = "load"});
}

}  // namespace

int main(int argc, char** argv) { return tk::main(argc, argv, build); }
