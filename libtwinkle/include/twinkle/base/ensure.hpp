// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <source_location>
#include <string_view>

namespace twinkle {

/// Ends the process with the invariant's name and the caller's line.
[[noreturn]] void broken_invariant(std::string_view what, const std::source_location& where);

/// An invariant of our own; it stays on in release builds. Never for input: bad input is an `error`.
inline void ensure(bool holds, std::string_view what, const std::source_location& where = std::source_location::current()) {
  if (!holds) [[unlikely]]
    broken_invariant(what, where);
}

}  // namespace twinkle
