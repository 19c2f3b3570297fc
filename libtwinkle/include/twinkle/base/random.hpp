// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "twinkle/base/digest.hpp"

namespace twinkle {

/// A seeded generator (splitmix64) with distributions of its own: the same numbers on every library and machine.
class generator {
 public:
  explicit constexpr generator(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    return mix(state_);
  }

  /// Uniform in [0, bound), without bias; `bound` >= 1.
  constexpr std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t reject = (0 - bound) % bound;
    std::uint64_t value = next();
    while (value < reject)
      value = next();
    return value % bound;
  }

  /// Uniform in [0, 1), 53 bits.
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

/// The seed of one use of randomness; two purposes of one seed are independent.
[[nodiscard]] constexpr std::uint64_t derive(std::uint64_t seed, std::string_view purpose) {
  return digest{}.add(seed).add(purpose).value();
}

/// 0..size-1 in an order drawn from `random` (Fisher-Yates).
[[nodiscard]] inline std::vector<std::size_t> permutation(std::size_t size, generator& random) {
  std::vector<std::size_t> order(size);
  for (std::size_t at = 0; at < size; ++at)
    order[at] = at;
  for (std::size_t at = size; at > 1; --at)
    std::swap(order[at - 1], order[random.below(at)]);
  return order;
}

}  // namespace twinkle
