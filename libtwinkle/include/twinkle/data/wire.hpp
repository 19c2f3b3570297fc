// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "twinkle/data/batch.hpp"
#include "twinkle/data/buffer.hpp"
#include "twinkle/data/metrics.hpp"
#include "twinkle/data/weights.hpp"

namespace twinkle {

/// A value as it travels to another process: a header that says what it is, and the raw numbers behind it.
///
///     header   magic, version of this form, kind │ bytes of each piece │ names, types, chunks, tags, tombstones
///     pieces   a batch's columns, chunk by chunk: its values; or its offsets, then its elements
///              weights: one a tensor
///              a message: those of all that is in it, one thing behind another
///
/// Pieces point into what was sent, and keep it alive. Whoever receives them puts each at a multiple of 8 bytes.
struct wire_form {
  buffer header;
  std::vector<buffer> pieces;
};

enum class wire_kind : std::uint8_t { batch = 1, weights, metrics, message };

/// What is taken from another process.
struct wire_limits {
  std::size_t header_bytes_max = std::size_t{64} << 20;
  std::size_t payload_bytes_max = std::size_t{4} << 30;  ///< of all pieces together
  std::size_t pieces_max = std::size_t{1} << 20;
  std::size_t rows_max = std::size_t{1} << 24;
  std::size_t columns_max = 1024;
  std::size_t name_bytes_max = 1024;
  std::size_t value_bytes_max = std::size_t{256} << 20;  ///< of memory, for elements of vectors and maps in a message
};

/// The wire form of a value. No element of a batch or tensor is copied, and a slice sends its own rows only; tags go
/// into the header, and offsets are copied where they have to start at 0. Throws `error` for a name that is not utf-8,
/// an identity that cannot be, or a tensor that does not fit its shape.
[[nodiscard]] wire_form to_wire(const batch& rows);
[[nodiscard]] wire_form to_wire(const weights& tensors);
[[nodiscard]] wire_form to_wire(const metrics& values);

/// What a header says of itself before any piece is there.
struct wire_contents {
  wire_kind kind;
  std::vector<std::size_t> piece_bytes;
};

/// So that a receiver knows what to allocate. Throws `error` for what is no header, is of another version, or is beyond
/// the limits.
[[nodiscard]] wire_contents contents_of(std::span<const std::byte> header, const wire_limits& limits = {});

/// The value again: from_wire<batch>(received). It borrows the pieces, and has the chunks that were sent. Everything is
/// checked, but for whether text is utf-8. Throws `error` saying what does not fit.
template <class T>
[[nodiscard]] T from_wire(const wire_form& received, const wire_limits& limits = {});
template <>
batch from_wire<batch>(const wire_form& received, const wire_limits& limits);
template <>
weights from_wire<weights>(const wire_form& received, const wire_limits& limits);
template <>
metrics from_wire<metrics>(const wire_form& received, const wire_limits& limits);

/// All of it in one piece, copied: for small values that travel inside of a message. Of pieces that lie on another node
/// it says where they are.
[[nodiscard]] std::vector<std::byte> to_bytes(const wire_form& whole);

/// Owns bytes that a node keeps, until it is told that nobody needs them here.
using far_owner = std::function<std::shared_ptr<const far_bytes>(far_bytes)>;

/// The parts again, borrowed from `bytes`, which is copied if it does not start at a multiple of 8 bytes. `own` is asked
/// for those that lie on another node; without it there must be none. Throws `error` where the lengths do not fit or are
/// beyond the limits.
[[nodiscard]] wire_form from_bytes(buffer bytes, const wire_limits& limits = {}, const far_owner& own = nullptr);

}  // namespace twinkle
