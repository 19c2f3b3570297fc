// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "gateway_world.hpp"
#include "twinkle/flow/message.hpp"

namespace twinkle::net {

/// Which keys each worker on another node was told of in which task: they are released when it has answered, or is gone.
/// Safe from many threads.
class ledger {
 public:
  explicit ledger(gateway_world& world) : world_(world) {}

  void note(const address& worker, route::call_id call, const std::vector<std::uint64_t>& keys);
  void answered(const address& worker, route::call_id call);
  void gone(const address& worker);

 private:
  using tasks = std::map<route::call_id, std::vector<std::uint64_t>>;

  void release(const std::vector<std::uint64_t>& keys);

  gateway_world& world_;
  std::mutex mutex_;
  std::map<address, tasks> of_;
};

}  // namespace twinkle::net
