// SPDX-License-Identifier: Apache-2.0
// How a run watches itself: it asks its stages how they stand, and says who waits for whom when nothing moves.
#include <algorithm>

#include "twinkle/flow/session_machine.hpp"

namespace twinkle {

std::optional<time_point> session_machine::next_deadline() const {
  if (done_)
    return std::nullopt;
  if (!deadline_ || !ask_at_)
    return deadline_ ? deadline_ : ask_at_;
  return std::min(*deadline_, *ask_at_);
}

void session_machine::watch() {
  const duration none{0};
  duration each = std::max(bounds_.quiet, none);
  if (bounds_.standing > none)
    each = each > none ? std::min(each, bounds_.standing) : bounds_.standing;
  if (each == none)
    return;
  if (!ask_at_) {
    moved_at_ = now_;
    quiet_ = bounds_.quiet;
  } else if (now_ >= *ask_at_) {
    standings_.assign(stages_.size(), std::nullopt);
    to_all(msg::asked{});
  } else {
    return;
  }
  ask_at_ = now_ + each;
}

void session_machine::on(const msg::standing& by) {
  standings_[by.stage] = by.value;
  std::vector<stage_standing> all;
  std::vector<std::string> waits;
  std::uint64_t answers = 0;
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    if (!standings_[stage] && !finished_[stage])
      return;
    all.push_back(standings_[stage].value_or(stage_standing{}));
    answers += all.back().answers;
    if (!all.back().waits.empty())
      waits.push_back(name_ + "/" + stages_[stage].name + " waits " + all.back().waits);
  }
  if (bounds_.standing > duration{0})
    listener_.on_standing(all);
  if (answers != std::exchange(answers_, answers)) {
    moved_at_ = now_;
    quiet_ = bounds_.quiet;
  } else if (quiet_ > duration{0} && now_ - moved_at_ >= quiet_) {
    listener_.on_quiet(now_ - moved_at_, waits);
    quiet_ *= 2;
  }
}

}  // namespace twinkle
