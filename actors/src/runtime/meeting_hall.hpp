// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "hall_outside.hpp"
#include "interruption.hpp"
#include "meeting.hpp"
#include "twinkle/flow/communicator.hpp"

namespace twinkle::runtime {

/// Collectives between the bodies of one stage. Everyone lays a copy of its values down; when all have come, each adds
/// its own interval of the result in rank order; when all have, everyone takes the result. The copies belong to the
/// meeting, so that a body that is called away leaves nothing dangling behind.
///
///     rank 0   a0 b0 c0        result   a0+a1+a2   b0+b1+b2   c0+c1+c2
///     rank 1   a1 b1 c1                 by rank 0  by rank 1  by rank 2
///     rank 2   a2 b2 c2
///
/// Where its workers are on several nodes, each has a hall. Halls send one another what is needed there: of a member's
/// values the intervals that members there add, and each sum once; so every node has the same bits.
///
///     node 0   rank 0  a0 b0 │ c0 ->        <- a2 b2, c0+c1+c2
///              rank 1  a1 b1 │ c1 ->        a0+a1+a2 ->   b0+b1+b2 ->
///     node 1   rank 2  a2 b2 │ c2
///
/// Letters may come before any member here does, and are kept. A worker is through with a call when it begins a later
/// one or is called away; when all members here are, their meetings of that call are dropped, with any letter to them.
class meeting_hall {
 public:
  using key = meeting_key;

  /// Without an outside all workers are here. Otherwise it must outlive the hall.
  explicit meeting_hall(hall_outside* outside) : outside_(outside) {}
  meeting_hall() : meeting_hall(nullptr) {}

  // From a body. `index` is its own among the members.
  void all_reduce(const key& where, std::size_t index, interruption& body, element type, reduction how,
                  std::span<std::byte> values);
  void reduce_scatter(const key& where, std::size_t index, interruption& body, element type, reduction how,
                      std::span<std::byte> values);
  void all_gather(const key& where, std::size_t index, interruption& body, element type, std::span<std::byte> values);
  void broadcast(const key& where, std::size_t index, interruption& body, std::span<std::byte> values,
                 std::size_t root);
  // One way. What is sent is kept until it is received, or the receiver is through with the call.
  void send(const key& where, interruption& body, std::span<const std::byte> values);
  void receive(const key& where, interruption& body, std::span<std::byte> values);

  /// A worker that is here begins a call, and is through with those before.
  void begins(std::size_t worker, route::call_id call);

  /// A letter from another node, from any thread, in any order. Throws `error` where it cannot be from there, or was
  /// there already; nothing is changed then.
  void arrived(hall_letter&& letter);

  /// How many meetings there are, with those that only letters have come to.
  [[nodiscard]] std::size_t meetings() const;

 private:
  class visit;

  // The members on each node, as runs of neighbours.
  struct spread {
    std::size_t count = 0;  // of members that are here
    std::vector<interval> here;
    std::map<std::size_t, std::vector<interval>> elsewhere;
  };

  [[nodiscard]] bool is_here(std::size_t worker) const;
  [[nodiscard]] spread spread_of(const key& where) const;
  void check(const hall_letter& letter, const spread& members) const;
  [[nodiscard]] const std::shared_ptr<meeting>& open(const key& where);
  void through(std::size_t worker, route::call_id first_left);
  [[nodiscard]] bool all_through(const key& where) const;

  hall_outside* outside_;
  mutable std::mutex mutex_;
  std::map<key, std::shared_ptr<meeting>> meetings_;
  std::vector<route::call_id> first_left_;  // by worker: the first call that it may still meet in
};

}  // namespace twinkle::runtime
