// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "twinkle/data/batch.hpp"
#include "twinkle/data/buffer.hpp"
#include "twinkle/data/weights.hpp"

namespace twinkle {

/// Keeps bytes for other nodes, and gives the buffer that says where they are.
using keeper = std::function<buffer(const buffer&)>;

/// What is sent in place of a value: elements stay where they are, under keys that `keep` gives. Tags, tombstones, routed
/// columns and the lengths of ragged rows go along, and so do elements that lie on some other node already.
[[nodiscard]] batch leave_behind(const batch& rows, const keeper& keep);
[[nodiscard]] weights leave_behind(const weights& tensors, const keeper& keep);

/// The bytes of all that would stay behind.
[[nodiscard]] std::size_t bytes_to_leave(const batch& rows);
[[nodiscard]] std::size_t bytes_to_leave(const weights& tensors);

/// What has to be fetched from other nodes before a value can be read here, and where it goes: a column's pieces behind
/// one another in one block, so that nobody copies them again.
///
///     column    far a[4..8)  far b[0..2)  here        block    a4 a5 a6 a7 b0 b1 h0
///
/// So are the shards of a tensor, where they follow each other in it; else they are put together when all are there.
class fetch_plan {
 public:
  struct piece {
    buffer from;                  ///< far
    std::span<std::byte> into;    ///< as many bytes, of a block that lives as long as the plan
  };
  /// Bytes that lie here after all, of a far buffer; nothing if they do not.
  using finder = std::function<std::optional<buffer>(const buffer&)>;

  fetch_plan(batch rows, const finder& find);
  fetch_plan(weights tensors, const finder& find);

  [[nodiscard]] const std::vector<piece>& pieces() const { return pieces_; }

  /// The value, once every piece is where it goes.
  [[nodiscard]] const batch& rows() const { return rows_; }
  [[nodiscard]] weights tensors() const;

 private:
  batch rows_;
  weights tensors_;
  bool apart_ = false;  // there are shards that are not in a row
  std::vector<piece> pieces_;
};

/// Whether some of it lies on another node.
[[nodiscard]] bool is_far(const batch& rows);
[[nodiscard]] bool is_far(const weights& tensors);

}  // namespace twinkle
