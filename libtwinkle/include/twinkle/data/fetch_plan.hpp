// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
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
/// So are the shards of a tensor, where they follow each other in it; else they are put together when all are there. Of
/// replicas one is taken: one that is here, else those on different nodes take turns.
class fetch_plan {
 public:
  struct piece {
    buffer from;                  ///< far
    std::span<std::byte> into;    ///< as many bytes, of a block that lives as long as the plan
  };
  /// Bytes that lie here after all, of a far buffer; nothing if they do not.
  using finder = std::function<std::optional<buffer>(const buffer&)>;

  fetch_plan(batch rows, const finder& find);
  /// Of each tensor what is `wanted`, and no other byte. `turn` says whose turn it is among replicas. Throws `error` naming
  /// the tensor where what is wanted does not lie in it.
  fetch_plan(const weights& tensors, const finder& find, const shard_rule& wanted = nullptr, std::size_t turn = 0);

  [[nodiscard]] const std::vector<piece>& pieces() const { return pieces_; }
  /// The tensors that are wanted in part, by name.
  [[nodiscard]] const std::map<std::string, shard>& parts() const { return parts_; }

  /// The value, once every piece is where it goes.
  [[nodiscard]] const batch& rows() const { return rows_; }
  [[nodiscard]] weights tensors() const;

 private:
  void bring(const std::string& name, const std::vector<tensor>& shards, const std::optional<shard>& wanted,
             std::vector<named_tensor>& made);

  batch rows_;
  weights tensors_;
  bool apart_ = false;  // there are shards that are not in a row
  std::map<std::string, shard> parts_;
  std::vector<piece> pieces_;
};

/// Each tensor by itself, with its shards and replicas.
[[nodiscard]] std::vector<weights> one_by_one(const weights& tensors);

/// Of tensors that are here, what is wanted; see fetch_plan. Where that is one run of bytes, it is not copied.
[[nodiscard]] weights narrow(const weights& tensors, const shard_rule& wanted);

/// Whether some of it lies on another node.
[[nodiscard]] bool is_far(const batch& rows);
[[nodiscard]] bool is_far(const weights& tensors);

}  // namespace twinkle
