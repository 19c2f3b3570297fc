// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "twinkle/base/random.hpp"
#include "twinkle/flow/seams.hpp"

namespace twinkle::sim {

/// Chooses at random, the same for the same seed.
class random_chooser final : public chooser_seam {
 public:
  explicit random_chooser(std::uint64_t seed) : random_(derive(seed, "chooser")) {}

  [[nodiscard]] std::size_t choose(std::size_t count) override { return random_.below(count); }

 private:
  generator random_;
};

}  // namespace twinkle::sim
