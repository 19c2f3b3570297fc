// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "twinkle/base/interval.hpp"
#include "twinkle/data/buffer.hpp"
#include "twinkle/flow/call.hpp"

namespace twinkle {

/// Which meeting of which workers of a stage in which call.
struct meeting_key {
  route::call_id call = 0;
  std::vector<std::size_t> members;  ///< workers, in rank order
  std::size_t ordinal = 0;           ///< of the meetings of these members in this call
  bool one_way = false;              ///< the first of two members sends, the second receives; counted apart

  friend auto operator<=>(const meeting_key&, const meeting_key&) = default;
};

/// What the hall of a stage on one node tells the hall of that stage on another of one worker in a meeting.
struct hall_letter {
  enum class kind : std::uint8_t { values, sum };

  meeting_key meeting;
  kind what = kind::values;  ///< what the worker laid down, or what it added up
  std::size_t from = 0;      ///< the worker's index among the members
  interval part = {};        ///< which bytes of its values, or of the result, these are
  buffer values = {};
  std::string agenda = {};   ///< what it wants to do, in words; all must want the same
  std::uint32_t stage = 0;   ///< of the hall; whoever brings it says so
};

/// What is taken from another node.
struct hall_limits {
  std::size_t members_max = std::size_t{1} << 16;
  std::size_t agenda_bytes_max = 256;
};

/// All of a letter but its values, as bytes.
[[nodiscard]] std::vector<std::byte> head_of(const hall_letter& letter);

/// The letter again. It borrows the values, unless they do not start at a multiple of 8 bytes: then they are copied.
/// Throws `error` where the head is cut off or damaged, is beyond the limits, or is of other values.
[[nodiscard]] hall_letter letter_of(std::span<const std::byte> head, buffer values, const hall_limits& limits = {});

}  // namespace twinkle
