// SPDX-License-Identifier: Apache-2.0
#include "twinkle/workers/exact_match.hpp"

#include <vector>

#include "twinkle/workers/columns.hpp"

namespace twinkle {

batch exact_match::scored(const batch& rollouts) {
  const text_view completions = rollouts[columns::completion];
  const text_view answers = rollouts[columns::answer];
  std::vector<float> rewards(rollouts.rows());
  for (std::size_t row = 0; row < rewards.size(); ++row)
    rewards[row] = completions[row] == answers[row] ? 1.0F : 0.0F;
  return rollouts.with(columns::reward, std::move(rewards));
}

}  // namespace twinkle
