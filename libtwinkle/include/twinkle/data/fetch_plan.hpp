// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "twinkle/data/batch.hpp"
#include "twinkle/data/buffer.hpp"
#include "twinkle/data/weights.hpp"

namespace twinkle {

namespace data {
struct chunk;
struct slot;
}

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
    buffer from;
    std::span<std::byte> into;    ///< as many bytes, of a block that lives as long as the plan
  };
  /// Bytes that lie here after all, of a far buffer; nothing if they do not.
  using finder = std::function<std::optional<buffer>(const buffer&)>;

  /// Where pieces go.
  using blocks = std::vector<std::shared_ptr<std::byte[]>>;

  /// `shared`: the blocks of a plan with the same pieces, to be used in place of new ones.
  fetch_plan(batch rows, const finder& find, const blocks& shared = {});
  /// Of each tensor what is `wanted`, and no other byte. `turn` says whose turn it is among replicas. Throws `error` naming
  /// the tensor where what is wanted does not lie in it.
  fetch_plan(const weights& tensors, const finder& find, const shard_rule& wanted = nullptr, std::size_t turn = 0,
             const blocks& shared = {});

  /// What is far.
  [[nodiscard]] const std::vector<piece>& pieces() const { return pieces_; }
  [[nodiscard]] const blocks& memory() const { return memory_; }
  /// Whether the blocks hold nothing but pieces, so that plans with the same pieces may share them.
  [[nodiscard]] bool may_share() const { return near_.empty(); }
  /// Whether bytes that are here are copied to make the value, which takes as long as they are many.
  [[nodiscard]] bool copies() const { return !near_.empty() || !apart_.empty(); }

  /// The value, once every piece is where it goes.
  [[nodiscard]] const batch& rows();
  [[nodiscard]] weights tensors();

 private:
  struct region;

  [[nodiscard]] std::span<std::byte> next_block(std::size_t bytes, const blocks& shared);
  void fill(std::span<std::byte>& rest, const buffer& from);
  void copy_near();
  [[nodiscard]] data::slot brought(const data::slot& column, const std::vector<data::chunk>& chunks, const blocks& shared);
  [[nodiscard]] buffer brought(std::span<const region> regions, const blocks& shared);
  void bring(const std::string& name, const std::vector<tensor>& shards, const std::optional<shard>& wanted,
             const blocks& shared);
  [[nodiscard]] static region narrowed(const tensor& from, const shard& wanted);
  [[nodiscard]] static bool covered(std::span<const region> regions);
  [[nodiscard]] static bool in_a_row(std::span<const region> regions);

  batch rows_;
  std::vector<named_tensor> tensors_;
  std::uint64_t version_ = 0;
  std::set<std::string> apart_ = {};           // tensors whose shards are not in a row
  std::map<std::string, shard> parts_ = {};    // of the tensors that are wanted in part
  std::vector<piece> pieces_ = {};
  std::vector<piece> near_ = {};
  blocks memory_ = {};
};

/// Each tensor by itself, with its shards and replicas.
[[nodiscard]] std::vector<weights> one_by_one(const weights& tensors);

/// Of tensors that are here, what is wanted; see fetch_plan. Where that is one run of bytes, it is not copied.
[[nodiscard]] weights narrow(const weights& tensors, const shard_rule& wanted);

/// The rows, ascending, of which elements lie where `gone` says.
[[nodiscard]] std::vector<std::size_t> rows_gone(const batch& rows, const std::function<bool(const far_bytes&)>& gone);

/// Whether some of it lies on another node.
[[nodiscard]] bool is_far(const batch& rows);
[[nodiscard]] bool is_far(const weights& tensors);

}  // namespace twinkle
