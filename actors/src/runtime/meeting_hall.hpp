// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "interruption.hpp"
#include "twinkle/flow/communicator.hpp"

namespace twinkle::runtime {

/// Collectives between the bodies of one stage in one process. Everyone lays a copy of its values down; when all have
/// come, each adds its own interval of the result in rank order; when all have, everyone takes the result. The copies
/// belong to the meeting, so that a body that is called away leaves nothing dangling behind.
///
///     rank 0   a0 b0 c0        result   a0+a1+a2   b0+b1+b2   c0+c1+c2
///     rank 1   a1 b1 c1                 by rank 0  by rank 1  by rank 2
///     rank 2   a2 b2 c2
class meeting_hall {
 public:
  /// Which meeting of which workers in which call.
  struct key {
    route::call_id call = 0;
    std::vector<std::size_t> members;  // workers, in rank order
    std::size_t ordinal = 0;           // of the meetings of these members in this call

    friend auto operator<=>(const key&, const key&) = default;
  };

  void all_reduce(const key& where, std::size_t index, interruption& body, element type, reduction how,
                  std::span<std::byte> values);
  void broadcast(const key& where, std::size_t index, interruption& body, std::span<std::byte> values,
                 std::size_t root);

 private:
  struct meeting {
    std::string agenda;  // what the first comer wants to do; the others must want the same
    bool disagreed = false;
    std::vector<std::vector<std::byte>> laid;  // by index
    std::vector<std::byte> sum;
    std::size_t arrived = 0;
    std::size_t added = 0;
    std::size_t left = 0;
    std::vector<gate*> waiting;
  };

  [[nodiscard]] std::shared_ptr<meeting> enter(const key& where, std::size_t index, interruption& body,
                                               const std::string& agenda, std::span<const std::byte> values);
  void gather(std::unique_lock<std::mutex>& lock, meeting& at, std::size_t& counter, std::size_t size,
              interruption& body, const std::string& agenda);
  void leave(const key& where, meeting& at);

  std::mutex mutex_;
  std::map<key, std::shared_ptr<meeting>> meetings_;
};

}  // namespace twinkle::runtime
