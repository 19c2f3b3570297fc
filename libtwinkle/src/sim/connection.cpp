// SPDX-License-Identifier: Apache-2.0
#include "twinkle/sim/connection.hpp"

#include <algorithm>
#include <utility>

namespace twinkle::sim {

void connection::send(arrival what, time_point now, duration takes) {
  const time_point before = parcels_.empty() ? now : parcels_.back().arrives;
  parcels_.push_back({std::move(what), takes, std::max(before, now + takes)});
}

std::optional<connection::arrival> connection::take(time_point now) {
  if (cuts_ > 0 || parcels_.empty() || parcels_.front().arrives > now)
    return std::nullopt;
  arrival first = std::move(parcels_.front().what);
  parcels_.pop_front();
  return first;
}

std::optional<time_point> connection::next() const {
  if (cuts_ > 0 || parcels_.empty())
    return std::nullopt;
  return parcels_.front().arrives;
}

void connection::heal(time_point now) {
  if (--cuts_ > 0)
    return;
  time_point before = now;
  for (parcel& each : parcels_)
    before = each.arrives = std::max(before, now + each.takes);
}

}  // namespace twinkle::sim
