// SPDX-License-Identifier: Apache-2.0
#include "bulk_store.hpp"

#include <utility>

namespace twinkle::net {

std::uint64_t bulk_store::keep(buffer bytes) {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = keys_.try_emplace({bytes.data(), bytes.bytes()}, next_);
  entry& of = kept_[known->second];
  ++of.needed;
  if (is_new) {
    ++next_;
    bytes_ += bytes.bytes();
    of.bytes = std::move(bytes);
  }
  return known->second;
}

std::optional<buffer> bulk_store::find(std::uint64_t key) const {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(key);
  if (found == kept_.end())
    return std::nullopt;
  return found->second.bytes;
}

void bulk_store::release(std::uint64_t key) {
  buffer last;  // its memory may be freed, which takes its time: not under the lock
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(key);
  if (found == kept_.end() || --found->second.needed > 0)
    return;
  last = std::move(found->second.bytes);
  bytes_ -= last.bytes();
  keys_.erase({last.data(), last.bytes()});
  kept_.erase(found);
}

std::size_t bulk_store::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::size_t bulk_store::pieces() const {
  const std::lock_guard lock(mutex_);
  return kept_.size();
}

}  // namespace twinkle::net
