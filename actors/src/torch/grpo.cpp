// SPDX-License-Identifier: Apache-2.0
#include "grpo.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <stdexcept>
#include <string>

namespace twinkle::torch_policy {

namespace {

std::size_t tokens_in(std::span<const sequence> rows) {
  std::size_t tokens = 0;
  for (const auto& row : rows)
    tokens += row.completion.size();
  return tokens;
}

/// Checked before its gradient is taken, so that a bad batch leaves the accumulated gradient as it was.
double finite_sum(const at::Tensor& losses, std::size_t rows) {
  const double sum = losses.detach().sum(at::kDouble).item<double>();
  if (!std::isfinite(sum))
    throw std::runtime_error("the loss of a batch of " + std::to_string(rows) + " rows is not finite");
  return sum;
}

void check_total(double tokens_total) {
  if (!(tokens_total > 0) || !std::isfinite(tokens_total))
    throw std::invalid_argument("the step's number of tokens must be positive, not " + std::to_string(tokens_total));
}

}  // namespace

loss_sums& loss_sums::operator+=(const loss_sums& other) {
  loss += other.loss;
  entropy += other.entropy;
  tokens += other.tokens;
  clipped += other.clipped;
  log_prob_difference += other.log_prob_difference;
  return *this;
}

loss_sums add_grpo_gradient(policy& target, std::span<const grpo_row> rows, double tokens_total, double clip) {
  std::vector<sequence> sequences;
  std::vector<float> old, advantages, weights;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto& each = rows[row];
    if (each.old_log_probs.size() != each.tokens.completion.size())
      throw std::invalid_argument("row " + std::to_string(row) + " has " +
                                  std::to_string(each.tokens.completion.size()) + " completion tokens and " +
                                  std::to_string(each.old_log_probs.size()) + " old log-probs");
    if (each.weight == 0 || each.tokens.completion.empty())
      continue;
    sequences.push_back(each.tokens);
    old.insert(old.end(), each.old_log_probs.begin(), each.old_log_probs.end());
    advantages.insert(advantages.end(), each.tokens.completion.size(), each.advantage);
    weights.insert(weights.end(), each.tokens.completion.size(), each.weight);
  }
  if (sequences.empty())
    return {};
  check_total(tokens_total);

  const at::AutoGradMode with_gradient(true);
  const auto scores = target.score(sequences);
  const auto advantage = at::tensor(advantages), weight = at::tensor(weights);
  const auto log_ratio = scores.log_probs - at::tensor(old);
  const auto ratio = log_ratio.exp();
  const auto free = ratio * advantage, bounded = ratio.clamp(1 - clip, 1 + clip) * advantage;
  const auto losses = -at::minimum(free, bounded) * weight;
  const auto objective = losses.sum() / tokens_total;

  const at::NoGradGuard no_gradient;
  const auto sum = [&](const at::Tensor& each) { return (each.detach() * weight).sum(at::kDouble).item<double>(); };
  loss_sums sums;
  sums.loss = finite_sum(losses, sequences.size());
  sums.entropy = sum(scores.entropies);
  sums.tokens = weight.sum(at::kDouble).item<double>();
  sums.clipped = sum(bounded.lt(free).to(at::kFloat));
  sums.log_prob_difference = sum(log_ratio.abs());
  objective.backward();
  return sums;
}

loss_sums add_supervised_gradient(policy& target, std::span<const sequence> rows, double tokens_total) {
  loss_sums sums;
  sums.tokens = static_cast<double>(tokens_in(rows));
  if (sums.tokens == 0)
    return sums;
  check_total(tokens_total);
  const at::AutoGradMode with_gradient(true);
  const auto scores = target.score(rows);
  const auto losses = -scores.log_probs;
  sums.loss = finite_sum(losses, rows.size());
  sums.entropy = scores.entropies.sum(at::kDouble).item<double>();
  (losses.sum() / tokens_total).backward();
  return sums;
}

shuffled_rows::shuffled_rows(std::uint64_t seed, std::size_t rows) : random_(seed), rows_(rows) {
  if (rows == 0)
    throw std::invalid_argument("there are no rows to shuffle");
}

std::vector<std::size_t> shuffled_rows::next(std::size_t count) {
  std::vector<std::size_t> drawn;
  while (drawn.size() < count) {
    if (order_.empty())
      order_ = permutation(rows_, random_);
    drawn.push_back(order_.back());
    order_.pop_back();
  }
  return drawn;
}

double supervised_start(policy& target, std::span<const sequence> dataset, const supervised_options& options,
                        const data_parallel& ranks) {
  shuffled_rows rows(options.seed, dataset.size());
  adamw optimiser(target.values().size(), options.optimiser);
  double loss = 0;
  for (std::size_t step = 0; step < options.steps; ++step) {
    std::vector<sequence> batch;
    for (const std::size_t row : rows.next(options.rows_per_step))
      batch.push_back(dataset[row]);
    const auto part = ranks.slice ? ranks.slice(batch.size()) : data_parallel::part{0, batch.size()};
    const auto mine = std::span<const sequence>(batch).subspan(part.begin, part.end - part.begin);
    const auto sums = add_supervised_gradient(target, mine, static_cast<double>(tokens_in(batch)));
    if (ranks.all_reduce)
      ranks.all_reduce(target.gradient());
    optimiser.step(target.values(), target.gradient());
    loss = sums.tokens > 0 ? sums.loss / sums.tokens : 0;
  }
  return loss;
}

}  // namespace twinkle::torch_policy
