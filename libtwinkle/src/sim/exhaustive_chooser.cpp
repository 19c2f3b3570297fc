// SPDX-License-Identifier: Apache-2.0
#include "twinkle/sim/exhaustive_chooser.hpp"

#include "twinkle/base/ensure.hpp"

namespace twinkle::sim {

std::size_t exhaustive_chooser::choose(std::size_t count) {
  if (count == 1)
    return 0;
  if (depth_ == bound_) {
    cut_off_ = true;
    return 0;
  }
  if (depth_ == path_.size())
    path_.push_back({0, count});
  ensure(path_[depth_].count == count, "the same choices lead to the same choice");
  return path_[depth_++].chosen;
}

bool exhaustive_chooser::next() {
  ensure(depth_ == path_.size(), "the same choices lead to as many choices");
  while (!path_.empty() && path_.back().chosen + 1 == path_.back().count)
    path_.pop_back();
  depth_ = 0;
  if (path_.empty())
    return false;
  ++path_.back().chosen;
  ++sequences_;
  return true;
}

}  // namespace twinkle::sim
