// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "twinkle/data/batch.hpp"

namespace twinkle {

/// Two streams of the same rows, matched by identity: columns of both, those of the first where both have one. Batches
/// leave in the order and the size in which the first stream had them, once all their rows have come on the other too. A
/// row that was dropped on either side is a tombstone.
class join {
 public:
  /// `side` is 0 or 1. What becomes complete. Throws `error` for rows without identities, a row that comes twice, and
  /// one whose parent is a row of the other side.
  [[nodiscard]] std::vector<batch> add(std::size_t side, const batch& rows);

  void end(std::size_t side) { ended_[side] = true; }
  [[nodiscard]] bool ended() const { return ended_[0] && ended_[1]; }

  /// Rows and tombstones that wait for those of the other side, and all that have come.
  [[nodiscard]] std::size_t held() const;
  [[nodiscard]] std::size_t received(std::size_t side) const { return received_[side]; }

  /// "row 0:3 came on one side only": the first that waits.
  [[nodiscard]] std::string lonely() const;

 private:
  void expect(const identity& id);
  [[nodiscard]] bool complete(const batch& rows) const;
  [[nodiscard]] batch match(const batch& rows);

  std::deque<batch> first_;
  std::set<identity> expected_;       // those of first_
  std::map<identity, batch> second_;  // one row each, or one tombstone
  std::array<bool, 2> ended_{};
  std::array<std::size_t, 2> received_{};
};

}  // namespace twinkle
