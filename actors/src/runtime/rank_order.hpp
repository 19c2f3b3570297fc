// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "twinkle/data/buffer.hpp"
#include "twinkle/flow/communicator.hpp"

namespace twinkle::runtime {

/// The same interval of every rank's values added up, rank 0 first. All have as many bytes, and start at a multiple of
/// the element's size.
[[nodiscard]] std::vector<std::byte> add_in_rank_order(element type, reduction how, std::span<const buffer> ranks);

}  // namespace twinkle::runtime
