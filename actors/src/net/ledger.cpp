// SPDX-License-Identifier: Apache-2.0
#include "ledger.hpp"

namespace twinkle::net {

std::uint64_t ledger::keep(const buffer& bytes) {
  const std::lock_guard lock(mutex_);
  const place where{bytes.data(), bytes.bytes()};
  const auto found = keys_.find(where);
  const std::uint64_t key = found != keys_.end() ? found->second : world_.keep(bytes);
  keys_[where] = key;
  entry& of = entries_[key];
  of.where = where;
  ++of.needed;
  return key;
}

void ledger::release_locked(std::uint64_t key) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || --found->second.needed > 0)
    return;
  keys_.erase(found->second.where);
  entries_.erase(found);
  world_.release(key);
}

void ledger::release(std::uint64_t key) {
  const std::lock_guard lock(mutex_);
  release_locked(key);
}

void ledger::note(const address& worker, route::call_id call, std::vector<std::uint64_t> keys) {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t>& all = tasks_[worker][call];
  all.insert(all.end(), keys.begin(), keys.end());
}

void ledger::answered(const address& worker, route::call_id call) {
  const std::lock_guard lock(mutex_);
  const auto of = tasks_.find(worker);
  if (of == tasks_.end())
    return;
  const auto task = of->second.find(call);
  if (task == of->second.end())
    return;
  for (const std::uint64_t key : task->second)
    release_locked(key);
  of->second.erase(task);
}

void ledger::gone(const address& worker) {
  const std::lock_guard lock(mutex_);
  const auto of = tasks_.find(worker);
  if (of == tasks_.end())
    return;
  for (const auto& [call, keys] : of->second)
    for (const std::uint64_t key : keys)
      release_locked(key);
  tasks_.erase(of);
}

}  // namespace twinkle::net
