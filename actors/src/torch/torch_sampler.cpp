// SPDX-License-Identifier: Apache-2.0
#include "twinkle/torch/torch_sampler.hpp"

#include "policy_rows.hpp"
#include "twinkle/flow/context.hpp"
#include "twinkle/workers/columns.hpp"

namespace twinkle {

using torch_policy::token_id;

struct torch_sampler::state {
  torch_policy::policy policy{0};
};

torch_sampler::torch_sampler(const options& how) : how_(how) {
  torch_policy::one_thread();
  state_ = std::make_unique<state>();
}
torch_sampler::~torch_sampler() = default;
torch_sampler::torch_sampler(torch_sampler&&) noexcept = default;

batch torch_sampler::sample(context& ctx, const batch& prompts) {
  std::vector<std::size_t> parents;
  for (std::size_t row = 0; row < prompts.rows(); ++row)
    parents.insert(parents.end(), how_.samples_per_prompt, row);
  const batch rollouts = prompts.expand(parents);
  std::vector<generator> random;
  for (const row_tag& tag : rollouts.tags())
    random.push_back(ctx.random(tag.id, "tokens"));
  const auto completions = torch_policy::complete(
      state_->policy, torch_policy::encode_all(rollouts[columns::prompt]), {how_.new_tokens_max, how_.temperature},
      [&](std::size_t row, std::size_t) { return random[row].uniform(); });
  std::vector<std::string> texts;
  std::vector<std::vector<token_id>> tokens;
  std::vector<std::vector<float>> log_probs;
  for (const torch_policy::completion& each : completions) {
    texts.push_back(torch_policy::completion_text(each.tokens));
    tokens.push_back(each.tokens);
    log_probs.push_back(each.log_probs);
  }
  return rollouts.with(columns::completion, texts).with(columns::tokens, tokens).with(columns::log_probs, log_probs);
}

void torch_sampler::load(context&, const weights& newest) { torch_policy::load(state_->policy, newest); }

}  // namespace twinkle
