// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/stage_plan.hpp"

#include <algorithm>

namespace twinkle {

bool stage_plan::can_spare_workers() const {
  if (source || !publications.empty())
    return false;
  return std::all_of(endpoints.begin(), endpoints.end(), [](const blueprint::endpoint_spec& each) {
    return each.kind == blueprint::role::load || each.retries > 0 || each.failed == failing::drops_rows;
  });
}

}  // namespace twinkle
