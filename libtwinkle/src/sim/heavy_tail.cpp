// SPDX-License-Identifier: Apache-2.0
#include "twinkle/sim/heavy_tail.hpp"

#include "twinkle/base/ensure.hpp"

namespace twinkle::sim {

duration heavy_tail(generator& random, duration median) {
  constexpr int doublings_max = 6;
  ensure(median >= duration{0} && median <= duration::max() / 64, "64 medians are a time");
  // From half the median to it, then each octave is half as likely as the one below it; the last has what is left.
  int doublings = 0;
  while (doublings < doublings_max && random.below(2) == 1)
    ++doublings;
  const auto middle = static_cast<std::uint64_t>(median.count());
  const std::uint64_t low = doublings == 0 ? middle / 2 : middle << (doublings - 1);
  const std::uint64_t high = middle << doublings;
  return duration{static_cast<duration::rep>(high == 0 ? 0 : low + random.below(high - low))};
}

}  // namespace twinkle::sim
