// SPDX-License-Identifier: Apache-2.0
#include "twinkle/sim/troubles.hpp"

#include <algorithm>
#include <utility>

#include "twinkle/base/ensure.hpp"

namespace twinkle::sim {

void troubles::begin(const mishap& what, std::size_t stage) {
  patient& worker = workers_[{stage, what.worker}];
  switch (what.what) {
    case mishap::kind::slows: worker.slow.push_back({what.at + what.lasts, what.factor}); return;
    case mishap::kind::drags: worker.drags += what.lasts; return;
    case mishap::kind::throws: worker.throws = true; return;
    case mishap::kind::hangs: worker.hangs = true; return;
    case mishap::kind::stalls:
      stalled_[stage] = std::max(stalled_[stage], what.at + what.lasts);
      return;
    default: ensure(false, "a mishap that befalls bodies");
  }
}

// When work of `lasts` is done that begins at `now`: as long as a worker is slow, each of its moments is stretched.
time_point troubles::ends_of(time_point now, duration lasts, std::vector<slowness> slow) {
  std::sort(slow.begin(), slow.end(), [](const slowness& a, const slowness& b) { return a.until < b.until; });
  auto left = static_cast<double>(lasts.count());
  for (std::size_t at = 0; at < slow.size(); ++at) {
    double factor = 1;
    for (std::size_t each = at; each < slow.size(); ++each)
      factor *= slow[each].factor;
    const auto meanwhile = static_cast<double>((slow[at].until - now).count());
    if (left * factor <= meanwhile)
      return now + duration(static_cast<duration::rep>(left * factor));
    left -= meanwhile / factor;
    now = slow[at].until;
  }
  return now + duration(static_cast<duration::rep>(left));
}

troubles::course troubles::next(std::size_t stage, std::size_t worker, time_point now, duration lasts,
                                  bool rows) {
  course ahead{now + lasts};
  if (workers_.empty())
    return ahead;
  if (const auto stalled = stalled_.find(stage); stalled != stalled_.end())
    now = std::max(now, stalled->second);
  if (const auto found = workers_.find({stage, worker}); found != workers_.end()) {
    patient& of = found->second;
    std::erase_if(of.slow, [&](const slowness& each) { return each.until <= now; });
    now = ends_of(now, lasts, of.slow) + std::exchange(of.drags, duration{0});
    lasts = duration{0};
    if (rows) {
      ahead.throws = std::exchange(of.throws, false);
      ahead.hangs = std::exchange(of.hangs, false);
    }
  }
  ahead.ends = now + lasts;
  return ahead;
}

}  // namespace twinkle::sim
