// SPDX-License-Identifier: Apache-2.0
#include "adamw.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace twinkle::torch_policy {

adamw::adamw(std::size_t values, const adamw_options& options)
    : options_(options), state_{0, std::vector<float>(values), std::vector<float>(values)} {}

void adamw::restore(state saved) {
  if (saved.first_moments.size() != state_.first_moments.size() ||
      saved.second_moments.size() != state_.second_moments.size())
    throw std::invalid_argument("the optimiser holds moments of " + std::to_string(state_.first_moments.size()) +
                                " values, those to restore are of " + std::to_string(saved.first_moments.size()) +
                                " and " + std::to_string(saved.second_moments.size()));
  state_ = std::move(saved);
}

double adamw::step(std::span<float> values, std::span<float> gradient) {
  if (values.size() != state_.first_moments.size() || gradient.size() != values.size())
    throw std::invalid_argument("the optimiser holds moments of " + std::to_string(state_.first_moments.size()) +
                                " values, not of " + std::to_string(values.size()) + " with " +
                                std::to_string(gradient.size()) + " gradients");
  double squares = 0;
  for (const float each : gradient)
    squares += static_cast<double>(each) * static_cast<double>(each);
  const double norm = std::sqrt(squares);
  if (!std::isfinite(norm))
    throw std::runtime_error("the gradient's norm is not finite");

  const auto number = static_cast<double>(++state_.steps);
  const double warm_up = static_cast<double>(options_.warm_up_steps);
  const double rate = options_.learning_rate * (number < warm_up ? number / warm_up : 1.0);
  const double unbias1 = 1 - std::pow(options_.beta1, number);
  const double unbias2 = 1 - std::pow(options_.beta2, number);
  const auto scale = static_cast<float>(std::min(1.0, options_.gradient_norm_max / (norm + 1e-6)));
  const auto beta1 = static_cast<float>(options_.beta1), beta2 = static_cast<float>(options_.beta2);
  const auto stride = static_cast<float>(rate / unbias1);
  const auto root_scale = static_cast<float>(1 / std::sqrt(unbias2));
  const auto epsilon = static_cast<float>(options_.epsilon);
  const auto keep = static_cast<float>(1 - rate * options_.weight_decay);
  for (std::size_t at = 0; at < values.size(); ++at) {
    const float slope = gradient[at] * scale;
    float& first = state_.first_moments[at];
    float& second = state_.second_moments[at];
    first = beta1 * first + (1 - beta1) * slope;
    second = beta2 * second + (1 - beta2) * slope * slope;
    values[at] = keep * values[at] - stride * first / (std::sqrt(second) * root_scale + epsilon);
    gradient[at] = 0;
  }
  return norm;
}

}  // namespace twinkle::torch_policy
