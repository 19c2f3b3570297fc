// SPDX-License-Identifier: Apache-2.0
#include "twinkle/observe/busy_meter.hpp"

#include <algorithm>
#include <utility>

#include "twinkle/base/ensure.hpp"

namespace twinkle {
namespace {

// The low bits count who runs, the others are nanoseconds, which may wrap: only differences are looked at.
constexpr unsigned count_bits = 14;
constexpr std::uint64_t count_mask = (std::uint64_t{1} << count_bits) - 1;

std::uint64_t count_of(std::uint64_t word) { return word & count_mask; }

std::uint64_t word_of(time_point since, std::uint64_t count) {
  return (static_cast<std::uint64_t>(since.count()) << count_bits) | count;
}

// Two threads may read the clock in one order and come here in the other: no time has passed then.
std::int64_t passed(std::uint64_t since, time_point now) {
  const auto difference = static_cast<std::int64_t>(word_of(now, 0) - (since & ~count_mask));
  return std::max<std::int64_t>(difference >> count_bits, 0);
}

}  // namespace

void busy_meter::counter::begin(time_point now) {
  std::uint64_t seen = running_.load(std::memory_order_relaxed);
  while (true) {
    ensure(count_of(seen) < count_mask, "no more bodies run at once than can be counted");
    const std::uint64_t next = count_of(seen) == 0 ? word_of(now, 1) : seen + 1;
    if (running_.compare_exchange_weak(seen, next))
      return;
  }
}

void busy_meter::counter::end(time_point now) {
  std::uint64_t seen = running_.load(std::memory_order_relaxed);
  while (true) {
    ensure(count_of(seen) > 0, "a body that ends has begun");
    if (!running_.compare_exchange_weak(seen, seen - 1))
      continue;
    if (count_of(seen) == 1)
      busy_ += passed(seen, now);
    return;
  }
}

// As if each ran without a break until it ended. What ends later begins before some of those that ended, or behind them.
void busy_meter::counter::ended_elsewhere(duration ran, time_point now) {
  const std::lock_guard lock(mutex_);
  time_point from = std::max(now - ran, last_);
  while (!elsewhere_.empty() && elsewhere_.back().first >= from) {
    now = std::max(now, elsewhere_.back().second);
    elsewhere_.pop_back();
  }
  if (!elsewhere_.empty())
    from = std::max(from, elsewhere_.back().second);
  if (from < now)
    elsewhere_.emplace_back(from, now);
}

duration busy_meter::counter::take(time_point now) {
  std::uint64_t seen = running_.load(std::memory_order_relaxed);
  while (count_of(seen) > 0)
    if (running_.compare_exchange_weak(seen, word_of(now, count_of(seen)))) {
      busy_ += passed(seen, now);
      break;
    }
  const std::lock_guard lock(mutex_);
  last_ = now;
  duration all(busy_.exchange(0));
  for (const auto& [from, until] : std::exchange(elsewhere_, {}))
    all += until - from;
  return all;
}

void busy_meter::begin(std::size_t stage, time_point now) {
  stages_[stage].begin(now);
  any_.begin(now);
}

void busy_meter::end(std::size_t stage, time_point now) {
  stages_[stage].end(now);
  any_.end(now);
}

void busy_meter::ended_elsewhere(std::size_t stage, duration ran, time_point now) {
  stages_[stage].ended_elsewhere(ran, now);
  any_.ended_elsewhere(ran, now);
}

busy_meter::reading busy_meter::read(time_point now) {
  reading taken;
  taken.whole = now - last_;
  for (counter& each : stages_)
    taken.busy.push_back(std::min(each.take(now), taken.whole));
  taken.idle = std::max(taken.whole - any_.take(now), duration{});
  last_ = now;
  return taken;
}

}  // namespace twinkle
