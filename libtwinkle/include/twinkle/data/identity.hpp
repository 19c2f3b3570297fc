// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "twinkle/base/random.hpp"

namespace twinkle {

/// One step down from a parent row: which child, of how many. The count is known when the parent is closed, so any one
/// child tells how many belong to its group.
struct child {
  std::uint32_t index = 0;
  std::uint32_t count = 0;

  friend constexpr auto operator<=>(const child&, const child&) = default;
};

/// Who a row is: the source that emitted it, its place in what that source emitted, and the path of children below it.
/// The sequence counts emitted rows, never dataset indices: the same line in a second epoch is another row.
struct identity {
  static constexpr std::size_t depth_max = 3;

  std::uint32_t source = 0;
  std::uint32_t depth = 0;
  std::uint64_t sequence = 0;
  std::array<child, depth_max> path{};

  friend constexpr auto operator<=>(const identity&, const identity&) = default;
};

/// The identity of child `index` of `count`. Throws `error` below depth_max.
[[nodiscard]] identity child_of(const identity& parent, std::uint32_t index, std::uint32_t count);

/// The row one step up; `id.depth` >= 1.
[[nodiscard]] identity parent_of(identity id);

/// Whether `id` is `ancestor` or lies below it.
[[nodiscard]] bool descends(const identity& id, const identity& ancestor);

/// Whether `a` comes first where ancestors come before their descendants, and those before the next sibling.
[[nodiscard]] bool precedes(const identity& a, const identity& b);

/// "0:17/3" is child 3 of row 17 of source 0.
[[nodiscard]] std::string to_string(const identity& id);

/// Random numbers of a row, keyed by what it is and never by where it runs.
[[nodiscard]] generator random_of(std::uint64_t seed, const identity& id, std::string_view purpose);

/// What rides with a row: who it is, the version of the weights that sampled it (the oldest, where several did), whether
/// it is a padding copy, and whether somebody is to go on with it.
struct row_tag {
  static constexpr std::int64_t unsampled = -1;

  identity id;
  std::int64_t version = unsampled;
  bool padding = false;
  bool unfinished = false;

  friend constexpr bool operator==(const row_tag&, const row_tag&) = default;
};

/// What is left of a dropped or lost row; it flows on, so that groups and counts see it.
struct tombstone {
  row_tag tag;
  std::string reason;

  friend bool operator==(const tombstone&, const tombstone&) = default;
};

}  // namespace twinkle
