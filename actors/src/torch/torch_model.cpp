// SPDX-License-Identifier: Apache-2.0
#include "twinkle/torch/torch_model.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "grpo.hpp"
#include "policy_rows.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/flow/context.hpp"
#include "twinkle/workers/columns.hpp"

namespace twinkle {

using torch_policy::token_id;

struct torch_model::parts {
  parts(std::uint64_t seed, const options& how)
      : policy(derive(seed, "policy")), optimiser(policy.values().size(), {.learning_rate = how.learning_rate}) {}

  torch_policy::policy policy;
  torch_policy::adamw optimiser;
};

namespace {

communicator data_peers(context& ctx) { return ctx.along({"fsdp", "dp"}); }

void start_warm(context& ctx, torch_policy::policy& policy, const torch_model::options& how) {
  const batch pairs = torch_policy::read_pairs(how.supervised_data);
  const auto prompts = torch_policy::encode_all(pairs[columns::prompt]);
  auto answers = torch_policy::encode_all(pairs[columns::answer]);
  std::vector<torch_policy::sequence> dataset;
  for (std::size_t row = 0; row < prompts.size(); ++row) {
    answers[row].push_back(torch_policy::vocabulary::end);
    dataset.push_back({prompts[row], answers[row]});
  }
  torch_policy::data_parallel ranks;
  ranks.slice = [&](std::size_t rows) {
    const interval mine = ctx.get_slice(rows);
    return torch_policy::data_parallel::part{mine.first, mine.end};
  };
  ranks.all_reduce = [&](std::span<float> values) { data_peers(ctx).all_reduce(values); };
  torch_policy::supervised_start(policy, dataset,
                                 {.seed = derive(ctx.seed(), "supervised"), .steps = how.supervised_steps}, ranks);
}

constexpr const char* optimiser_prefix = "optimiser.";
constexpr const char* first_moments = "optimiser.first_moments";
constexpr const char* second_moments = "optimiser.second_moments";
constexpr const char* steps = "optimiser.steps";

template <class T>
tensor tensor_of(std::vector<T> values) {
  const std::size_t count = values.size();
  return {element_of<T>(), {count}, buffer::of(std::move(values))};
}

template <class T>
std::vector<T> numbers_in(const weights& saved, const char* name) {
  const tensor* found = saved.find(name);
  if (found == nullptr)
    throw error("there is no saved tensor '" + std::string(name) + "'");
  if (found->type != element_of<T>() || found->part)
    throw error("saved tensor '" + std::string(name) + "' is of another type, or a part; it must be whole, of " +
                std::string(name_of(element_of<T>())));
  const T* first = found->values.as<T>();
  return {first, first + found->values.bytes() / sizeof(T)};
}

}  // namespace

torch_model::torch_model(context& ctx, const options& how) {
  torch_policy::one_thread();
  parts_ = std::make_unique<parts>(ctx.seed(), how);
  if (!how.supervised_data.empty())
    start_warm(ctx, parts_->policy, how);
}
torch_model::~torch_model() = default;
torch_model::torch_model(torch_model&&) noexcept = default;

metrics torch_model::train(context& ctx, const batch& rows) {
  const auto prompts = torch_policy::encode_all(rows[columns::prompt]);
  const auto tokens = rows[columns::tokens];
  const auto log_probs = rows[columns::log_probs];
  const auto advantages = rows[columns::advantage];
  const auto rewards = rows[columns::reward];
  std::vector<torch_policy::grpo_row> batch;
  double reward = 0;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    batch.push_back({{prompts[row], tokens[row]}, log_probs[row], advantages[row]});
    reward += static_cast<double>(rewards[row]);
  }
  const auto mine = static_cast<double>(tokens.elements());
  communicator peers = data_peers(ctx);
  std::ranges::fill(parts_->policy.gradient(), 0.0F);  // what a call that failed may have left
  const torch_policy::loss_sums sums =
      torch_policy::add_grpo_gradient(parts_->policy, batch, peers.all_reduce(mine));
  peers.all_reduce(parts_->policy.gradient());
  parts_->optimiser.step(parts_->policy.values(), parts_->policy.gradient());
  const auto by_token = [&](double sum) { return mine > 0 ? sum / mine : 0; };
  return metrics{}
      .mean("reward_mean", rows.empty() ? 0 : reward / static_cast<double>(rows.rows()))
      .mean("loss", by_token(sums.loss), mine)
      .mean("entropy", by_token(sums.entropy), mine)
      .mean("log_prob_difference", by_token(sums.log_prob_difference), mine);
}

weights torch_model::state(context& ctx) {
  return ctx.data_rank() == 0 ? torch_policy::snapshot(parts_->policy) : weights{};
}

weights torch_model::save(context& ctx) {
  if (ctx.data_rank() != 0)
    return {};
  const weights parameters = torch_policy::snapshot(parts_->policy);
  std::vector<named_tensor> all(parameters.tensors().begin(), parameters.tensors().end());
  const torch_policy::adamw::state& now = parts_->optimiser.current();
  all.push_back({first_moments, tensor_of(now.first_moments)});
  all.push_back({second_moments, tensor_of(now.second_moments)});
  all.push_back({steps, tensor_of(std::vector{static_cast<std::int64_t>(now.steps)})});
  return weights{std::move(all)};
}

void torch_model::restore(context&, const weights& saved) {
  std::vector<named_tensor> parameters;
  for (const named_tensor& each : saved.tensors())
    if (!each.name.starts_with(optimiser_prefix))
      parameters.push_back(each);
  const auto number = numbers_in<std::int64_t>(saved, steps);
  if (number.size() != 1 || number[0] < 0)
    throw error("saved tensor '" + std::string(steps) + "' has " + std::to_string(number.size()) +
                " numbers; it must have one, which is not negative");
  try {
    parts_->optimiser.restore({static_cast<std::uint64_t>(number[0]), numbers_in<float>(saved, first_moments),
                               numbers_in<float>(saved, second_moments)});
  } catch (const std::invalid_argument& wrong) {
    throw error(wrong.what());
  }
  torch_policy::load(parts_->policy, weights{std::move(parameters)});
}

}  // namespace twinkle
