// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "twinkle/data/buffer.hpp"
#include "twinkle/data/weights.hpp"

namespace twinkle {

/// Whole tensors and their version as the bytes of a safetensors file, every tensor aligned. Throws `error` naming the
/// tensor that is a shard, has a name twice or one that is not utf-8, or whose bytes do not fit its shape.
[[nodiscard]] std::vector<std::byte> to_safetensors(const weights& whole);

/// The tensors of a safetensors file, in the order of its header, with the "version" of its metadata, or 0. They borrow
/// from `file`, but for those that do not lie aligned there, which are copied. Throws `error` where the file is cut off
/// or contradicts itself: lengths, types, shapes, gaps and overlaps are checked before any number is looked at.
[[nodiscard]] weights from_safetensors(buffer file);

}  // namespace twinkle
