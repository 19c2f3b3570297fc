// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "twinkle/base/interval.hpp"
#include "twinkle/data/buffer.hpp"
#include "twinkle/flow/seams.hpp"

namespace twinkle::runtime {

/// The even parts of values, one a member, in bytes.
struct even_parts {
  std::size_t bytes = 0;
  std::size_t members = 1;
  std::size_t element_bytes = 1;

  /// The part of a member, or those of a run of members.
  [[nodiscard]] interval of(interval run) const {
    const std::size_t count = bytes / element_bytes;
    return {even_part(count, members, run.first).first * element_bytes,
            even_part(count, members, run.end - 1).end * element_bytes};
  }
  [[nodiscard]] interval of(std::size_t member) const { return of(interval{member, member + 1}); }
  /// How many of them hold something: the first ones.
  [[nodiscard]] std::size_t filled() const { return std::min(bytes / element_bytes, members); }
};

/// Some bytes of a member's values, or of the result.
struct meeting_piece {
  interval part;
  buffer values;
};

/// What has come to a meeting so far: from the members here all at once, from those on other nodes what is needed here.
struct meeting {
  std::optional<std::string> agenda;               // what the first comer wants to do; the others must want the same
  std::optional<std::string> another;              // what one of them wants instead
  std::vector<std::vector<meeting_piece>> laid;    // by member
  std::vector<std::optional<meeting_piece>> sums;  // by member
  std::size_t pieces = 0;                          // laid so far
  std::size_t pieces_due = 0;                      // 0 before a member here has come; it says how many it needs
  std::size_t summed = 0;
  std::size_t sums_due = 0;
  std::size_t inside = 0;  // members here that have not left
  std::size_t left = 0;
  std::vector<gate*> waiting;

  explicit meeting(std::size_t members) : laid(members), sums(members) {}

  void hear(const std::string& wish) {
    if (!agenda)
      agenda = wish;
    else if (*agenda != wish && !another)
      another = wish;
  }
  // Both wake all but `self` when there is no more to wait for.
  void lay(std::size_t member, meeting_piece piece, const gate* self) {
    laid[member].push_back(std::move(piece));
    if (++pieces == pieces_due || another)
      wake(self);
  }
  void add(std::size_t member, meeting_piece sum, const gate* self) {
    sums[member] = std::move(sum);
    if (++summed == sums_due || another)
      wake(self);
  }

 private:
  void wake(const gate* self) const {
    for (gate* each : waiting)
      if (each != self)
        each->wake();
  }
};

}  // namespace twinkle::runtime
