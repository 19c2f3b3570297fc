// SPDX-License-Identifier: Apache-2.0
#include "twinkle/torch/torch_evaluator.hpp"

#include "policy_rows.hpp"
#include "twinkle/flow/context.hpp"
#include "twinkle/workers/columns.hpp"

namespace twinkle {

struct torch_evaluator::state {
  torch_policy::policy policy{0};
  batch pairs;
  std::vector<std::vector<torch_policy::token_id>> prompts = torch_policy::encode_all(pairs[columns::prompt]);
};

torch_evaluator::torch_evaluator(const options& how) : how_(how) {
  torch_policy::one_thread();
  state_ = std::make_unique<state>(state{.pairs = torch_policy::read_pairs(how.data)});
}
torch_evaluator::~torch_evaluator() = default;
torch_evaluator::torch_evaluator(torch_evaluator&&) noexcept = default;

metrics torch_evaluator::grade(context&, const weights& newest) {
  torch_policy::load(state_->policy, newest);
  const auto completions =
      torch_policy::complete(state_->policy, state_->prompts, {how_.new_tokens_max, 0}, nullptr);
  const auto answers = state_->pairs[columns::answer];
  std::size_t right = 0;
  for (std::size_t row = 0; row < completions.size(); ++row)
    right += torch_policy::completion_text(completions[row].tokens) == answers[row] ? 1 : 0;
  const auto rows = static_cast<double>(completions.size());
  return metrics{}.mean("greedy_accuracy", static_cast<double>(right) / rows, rows);
}

}  // namespace twinkle
