// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "twinkle/data/identity.hpp"

namespace twinkle::sim {

/// Quick, and good enough for rows: neighbours differ.
struct identity_hash {
  [[nodiscard]] std::size_t operator()(const identity& id) const noexcept {
    std::uint64_t mixed = (id.sequence + 1) * 0x9e3779b97f4a7c15 + id.source;
    for (std::uint32_t at = 0; at < id.depth; ++at)
      mixed = (mixed ^ (mixed >> 29) ^ (id.path[at].index + 1)) * 0xbf58476d1ce4e5b9;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32));
  }
};

}  // namespace twinkle::sim
