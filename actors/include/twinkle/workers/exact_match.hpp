// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "twinkle/data/batch.hpp"

namespace twinkle {

class context;

/// A judge: the column "reward" is 1 where "completion" is "answer", byte for byte, else 0.
struct exact_match {
  [[nodiscard]] batch score(context&, const batch& rollouts) { return scored(rollouts); }

  [[nodiscard]] static batch scored(const batch& rollouts);
};

}  // namespace twinkle
