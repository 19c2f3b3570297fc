// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "twinkle/data/batch.hpp"

namespace twinkle {

class context;

/// Group-relative advantages: the samples of one prompt, which are children of one row and stand side by side, are
/// measured against each other. The column "advantage" is (reward - mean) / (std + 1e-4) of the group, with the
/// population's standard deviation (divided by n); a group of equal rewards gets zeros. Padding copies take no part and
/// get 0.
struct grpo_advantage {
  [[nodiscard]] batch advantages(context&, const batch& scored) { return with_advantages(scored); }

  /// Throws `error` naming the row that has no parent, whose siblings stand elsewhere too, or whose reward is not
  /// finite.
  [[nodiscard]] static batch with_advantages(const batch& scored);
};

}  // namespace twinkle
