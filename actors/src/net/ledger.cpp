// SPDX-License-Identifier: Apache-2.0
#include "ledger.hpp"

namespace twinkle::net {

void ledger::note(const address& worker, route::call_id call, const std::vector<std::uint64_t>& keys) {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t>& all = of_[worker][call];
  all.insert(all.end(), keys.begin(), keys.end());
}

void ledger::release(const std::vector<std::uint64_t>& keys) {
  for (const std::uint64_t key : keys)
    world_.release(key);
}

void ledger::answered(const address& worker, route::call_id call) {
  const std::lock_guard lock(mutex_);
  const auto of = of_.find(worker);
  if (of == of_.end())
    return;
  if (const auto task = of->second.extract(call))
    release(task.mapped());
}

void ledger::gone(const address& worker) {
  const std::lock_guard lock(mutex_);
  if (const auto of = of_.extract(worker))
    for (const auto& [call, keys] : of.mapped())
      release(keys);
}

}  // namespace twinkle::net
