// SPDX-License-Identifier: Apache-2.0
#include "interruption.hpp"

#include <algorithm>

namespace twinkle::runtime {

void interruption::cancel(std::optional<route::call_id> call, const fault& why) {
  {
    const std::lock_guard lock(mutex_);
    if (call) {
      cancelled_.push_back(*call);
      call_cause_ = std::make_shared<const fault>(why);
    } else {
      everything_ = std::make_shared<const fault>(why);
    }
  }
  gate_.wake();
}

std::optional<fault> interruption::enter(route::call_id call) {
  const std::lock_guard lock(mutex_);
  current_ = call;
  told_ = false;
  std::erase_if(cancelled_, [&](route::call_id each) { return each < call; });
  return cause();
}

std::optional<fault> interruption::cause() const {
  const bool call = std::find(cancelled_.begin(), cancelled_.end(), current_) != cancelled_.end();
  const auto& why = call ? call_cause_ : everything_;
  return why ? std::optional(*why) : std::nullopt;
}

std::optional<fault> interruption::why() const {
  const std::lock_guard lock(mutex_);
  return cause();
}

bool interruption::stopping() const {
  const std::lock_guard lock(mutex_);
  return cause().has_value();
}

// A body hears of it once, at once. One that goes on as if nothing had happened waits as long as it asks to, so that it
// neither spins nor, in simulation, keeps the baton.
bool interruption::to_be_told() {
  if (!why() || told_)
    return false;
  told_ = true;
  return true;
}

void interruption::await(std::unique_lock<std::mutex>& lock, const std::function<bool()>& ready) {
  while (!ready()) {
    if (to_be_told())
      throw stopped(*why());
    lock.unlock();
    gate_.wait();
    lock.lock();
  }
}

void interruption::sleep_until(const clock_seam& clock, time_point when) {
  while (!to_be_told()) {
    if (clock.now() >= when) {
      if (auto cause = why())
        throw stopped(*cause);
      return;
    }
    gate_.wait_until(when);
  }
  throw stopped(*why());
}

}  // namespace twinkle::runtime
