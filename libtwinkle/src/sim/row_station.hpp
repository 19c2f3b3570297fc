// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>

#include "identity_hash.hpp"
#include "twinkle/flow/call.hpp"

namespace twinkle::sim {

/// The rows that are at a source, or came to an input of a stage, and have neither gone on nor been trained.
///
///     arrive 0:7 | given to a worker | 0:7/0 of 2 goes on, 0:7 stays in part | 0:7/1 goes on, 0:7 is closed
class row_station {
 public:
  static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

  struct seen {
    std::uint64_t when = 0;        ///< deliveries before it was seen last
    route::call_id call = 0;       ///< in which it was given last
    std::uint32_t worker = nobody; ///< to whom
    std::uint32_t made = 0;        ///< rows that were returned of it in that call
    std::uint32_t left = 0;        ///< of its children, once some have gone on
    std::uint8_t sides = 0;        ///< of a zip, on which it came
    bool dead = false;             ///< a tombstone
  };

  /// False where it was there already.
  bool arrive(const identity& id, std::size_t side, bool dead, std::uint64_t now);
  [[nodiscard]] seen* find(const identity& id);
  /// It, or the row here that it descends from; null if there is none.
  [[nodiscard]] seen* owner(const identity& id);

  struct closed {
    bool known = false;
    bool whole = false;     ///< nothing of the row that was here is left
    bool was_dead = false;
  };
  /// A row has gone on. Closes it, or its part of the row that it descends from.
  closed close(const identity& id);
  void remove(const identity& id) { rows_.erase(id); }

  [[nodiscard]] const std::unordered_map<identity, seen, identity_hash>& all() const { return rows_; }

 private:

  std::unordered_map<identity, seen, identity_hash> rows_;
  std::unordered_map<identity, std::uint32_t, identity_hash> between_;  // children left of those that were never here
};

}  // namespace twinkle::sim
