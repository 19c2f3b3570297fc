// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace twinkle {

/// What a source can say of its batches before it runs. A worker type that has
/// `static emission emits(const Args&…)` for the arguments it is spawned with lets check() know.
struct emission {
  std::size_t rows = 0;     ///< in a full batch
  std::size_t least = 0;    ///< in the smallest
  bool endless = false;     ///< it never ends by itself
  std::uint64_t first = 0;  ///< rows that it emitted in earlier runs: the sequences of this one go on from there
};

}  // namespace twinkle
