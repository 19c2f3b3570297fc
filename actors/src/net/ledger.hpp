// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "gateway_world.hpp"
#include "twinkle/flow/message.hpp"

namespace twinkle::net {

/// What this node keeps for others, and for how many of those that it told of it: the same bytes are kept once, however
/// many are told. Safe from many threads.
class ledger {
 public:
  explicit ledger(gateway_world& world) : world_(world) {}

  /// The key of bytes that one more needs.
  [[nodiscard]] std::uint64_t keep(const buffer& bytes);
  /// One less needs them.
  void release(std::uint64_t key);

  /// The keys that a worker was told of in a task. They are released when it has answered, or is gone.
  void note(const address& worker, route::call_id call, std::vector<std::uint64_t> keys);
  void answered(const address& worker, route::call_id call);
  void gone(const address& worker);

 private:
  using place = std::pair<const std::byte*, std::size_t>;
  struct entry {
    place where;
    std::size_t needed = 0;
  };

  void release_locked(std::uint64_t key);

  gateway_world& world_;
  std::mutex mutex_;
  std::map<place, std::uint64_t> keys_;
  std::map<std::uint64_t, entry> entries_;
  std::map<address, std::map<route::call_id, std::vector<std::uint64_t>>> tasks_;
};

}  // namespace twinkle::net
