// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "policy.hpp"

namespace twinkle::torch_policy {

namespace {

void check(const sampling_options& sampling, const uniform_source& uniform) {
  if (sampling.new_tokens_max == 0)
    throw std::invalid_argument("new_tokens_max must be at least 1");
  if (!(sampling.temperature >= 0) || !std::isfinite(sampling.temperature))
    throw std::invalid_argument("the temperature must be finite and at least 0, not " +
                                std::to_string(sampling.temperature));
  if (sampling.temperature > 0 && !uniform)
    throw std::invalid_argument("sampling at a temperature above 0 needs a source of uniform numbers");
}

/// The first likeliest token; throws where a log-prob is not a number.
std::size_t likeliest(std::span<const float> log_probs, std::size_t row) {
  std::size_t best = 0;
  for (std::size_t token = 0; token < log_probs.size(); ++token) {
    if (std::isnan(log_probs[token]))
      throw std::runtime_error("the policy's log-probs for row " + std::to_string(row) + " are not numbers");
    if (log_probs[token] > log_probs[best])
      best = token;
  }
  return best;
}

/// The token whose share of the cumulative distribution holds `uniform`.
std::size_t drawn(std::span<const float> log_probs, std::size_t best, double temperature, double uniform) {
  const auto weight = [&](float log_prob) {
    return std::exp((static_cast<double>(log_prob) - static_cast<double>(log_probs[best])) / temperature);
  };
  double left = 0;
  for (const float log_prob : log_probs)
    left += weight(log_prob);
  left *= uniform;
  std::size_t last = best;
  for (std::size_t token = 0; token < log_probs.size(); ++token) {
    const double share = weight(log_probs[token]);
    if (share == 0)
      continue;
    if (left < share)
      return token;
    left -= share;
    last = token;
  }
  return last;
}

/// Appends to `row` its next token and that token's log-prob.
void extend(completion& row, std::span<const float> log_probs, std::size_t index, const sampling_options& sampling,
            const uniform_source& uniform) {
  auto token = likeliest(log_probs, index);
  if (sampling.temperature > 0) {
    const double number = uniform(index, row.tokens.size());
    if (!(number >= 0 && number < 1))
      throw std::invalid_argument("a uniform number must lie in [0, 1), not " + std::to_string(number));
    token = drawn(log_probs, token, sampling.temperature, number);
  }
  row.tokens.push_back(static_cast<token_id>(token));
  row.log_probs.push_back(log_probs[token]);
}

}  // namespace

std::vector<completion> policy::generate(std::span<const std::span<const token_id>> prompts,
                                         const sampling_options& sampling, const uniform_source& uniform) const {
  check(sampling, uniform);
  std::vector<completion> out(prompts.size());
  if (prompts.empty())
    return out;
  std::size_t longest = 0;
  for (std::size_t row = 0; row < prompts.size(); ++row) {
    check_row(row, prompts[row], {}, sampling.new_tokens_max);
    longest = std::max(longest, prompts[row].size());
  }

  // A token's slot in the cache is its position in its own row. Prompts are padded on the right: what the padding
  // leaves in later slots is masked until a new token overwrites it.
  const at::NoGradGuard no_gradient;
  const auto rows = static_cast<std::int64_t>(prompts.size());
  key_value_cache cache;
  cache.positions = static_cast<std::int64_t>(longest + sampling.new_tokens_max);
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    cache.keys.push_back(at::zeros({rows * cache.positions, static_cast<std::int64_t>(options_.width)}));
    cache.values.push_back(at::zeros_like(cache.keys.back()));
  }
  std::vector<std::int64_t> inputs(prompts.size() * longest, 0), positions, lasts;
  for (std::size_t row = 0; row < prompts.size(); ++row) {
    std::copy(prompts[row].begin(), prompts[row].end(), inputs.begin() + static_cast<std::ptrdiff_t>(row * longest));
    positions.push_back(static_cast<std::int64_t>(prompts[row].size()));
    lasts.push_back(static_cast<std::int64_t>(row * longest + prompts[row].size() - 1));
  }
  const auto prompt_positions = at::arange(static_cast<std::int64_t>(longest), at::kLong).unsqueeze(0);
  auto states =
      hidden(at::tensor(inputs).view({rows, -1}), prompt_positions, &cache).index_select(0, at::tensor(lasts));

  inputs.assign(prompts.size(), 0);
  std::vector<bool> ended(prompts.size(), false);
  for (std::size_t made = 1;; ++made) {
    const auto log_probs = at::log_softmax(head(states), -1).contiguous();
    for (std::size_t row = 0; row < prompts.size(); ++row) {
      if (ended[row])
        continue;  // it is carried along until the last row ends; nobody looks at what it computes
      const auto* first = log_probs.data_ptr<float>() + row * options_.vocabulary_size;
      extend(out[row], {first, options_.vocabulary_size}, row, sampling, uniform);
      inputs[row] = out[row].tokens.back();
      ended[row] = out[row].tokens.back() == options_.end_token;
    }
    if (made == sampling.new_tokens_max || std::find(ended.begin(), ended.end(), false) == ended.end())
      return out;
    states = hidden(at::tensor(inputs).view({rows, 1}), at::tensor(positions).view({rows, 1}), &cache);
    for (auto& each : positions)
      ++each;
  }
}

}  // namespace twinkle::torch_policy
