// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/stage_policies.hpp"

#include <algorithm>

namespace twinkle {

std::unique_ptr<regrouper> make_regrouper(const blueprint::regroup& how, const stage_plan::in& on) {
  switch (how.how) {
    case blueprint::regroup::kind::rebatch: return std::make_unique<rebatch>(how.rows, on.grouped, how.refill);
    case blueprint::regroup::kind::filter: return std::make_unique<filter_rows>(how.keeps, how.reason);
    case blueprint::regroup::kind::group_by_parent: return std::make_unique<group_by_parent>(on.as_completed);
  }
  return nullptr;
}

std::int64_t staleness_of(const batch& rows, std::int64_t version) {
  std::int64_t most = 0;
  for (const row_tag& tag : rows.tags())
    if (tag.version != row_tag::unsampled)
      most = std::max(most, version - tag.version);
  return most;
}

}  // namespace twinkle
