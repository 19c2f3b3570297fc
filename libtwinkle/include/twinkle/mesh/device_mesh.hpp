// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "twinkle/base/interval.hpp"
#include "twinkle/mesh/mesh_sizes.hpp"

namespace twinkle {

/// Ranks 0..n-1 arranged along named parallelism axes, outermost first: fsdp, pp, dp, cp, tp.
///
///     from_sizes({.dp_size = 2, .tp_size = 2})        tp 0   tp 1
///                                              dp 0      0      1    data rank 0
///                                              dp 1      2      3    data rank 1
class device_mesh {
 public:
  /// A mesh of one rank.
  device_mesh() : device_mesh(from_sizes({})) {}

  /// Throws `error` for sizes below 1, more than 2^20 ranks, a world size that is not their product, an ulysses size that does not divide
  /// dp x fsdp, and an expert view whose product is not the world.
  [[nodiscard]] static device_mesh from_sizes(const mesh_sizes& sizes);

  /// `ranks` in row-major order over `shape`, whose axes are `axes`. Throws `error` naming duplicate and missing
  /// ranks, and axes that are unknown or given twice.
  [[nodiscard]] static device_mesh from_ranks(std::vector<std::size_t> ranks, std::vector<std::size_t> shape,
                                              std::vector<std::string> axes);

  [[nodiscard]] std::size_t world_size() const { return ranks_.size(); }
  [[nodiscard]] const std::vector<std::string>& axes() const { return axes_; }
  [[nodiscard]] const mesh_sizes& sizes() const { return sizes_; }

  /// The size of `axis`; 1 where the mesh has no such axis.
  [[nodiscard]] std::size_t size(std::string_view axis) const;

  /// Where `rank` lies on `axis`; 0 where the mesh has no such axis.
  [[nodiscard]] std::size_t coordinate(std::size_t rank, std::string_view axis) const;

  /// (dp * fsdp_size + fsdp) / ulysses_size: which part of a batch the rank works on.
  [[nodiscard]] std::size_t data_rank(std::size_t rank) const;
  [[nodiscard]] std::size_t data_ranks() const;

  /// The rows of `length` that a data rank works on: even parts, the longer ones first.
  [[nodiscard]] interval get_slice(std::size_t length, std::size_t data_rank) const;

  /// One rank per data rank, in data-rank order: the smallest in the last pipeline stage.
  [[nodiscard]] std::vector<std::size_t> representatives() const;

  /// The ranks that differ from `rank` only along `axes`, ascending; itself included. Throws `error` for an unknown
  /// axis; one that the mesh has not counts as 1.
  [[nodiscard]] std::vector<std::size_t> group(std::size_t rank, std::initializer_list<std::string_view> axes) const;

  /// "dp=1,tp=0": the coordinates of `rank` on all axes of the mesh.
  [[nodiscard]] std::string coordinates(std::size_t rank) const;

  /// "pp 2 x dp 2 x tp 2"
  [[nodiscard]] std::string title() const;

  /// Every rank with its coordinates and data rank, a line for each position on the outer axes.
  [[nodiscard]] std::string draw() const;

 private:
  device_mesh(std::vector<std::size_t> ranks, std::vector<std::size_t> shape, std::vector<std::string> axes,
              mesh_sizes sizes);

  std::vector<std::size_t> ranks_;      // position in row-major order -> rank
  std::vector<std::size_t> positions_;  // rank -> position
  std::vector<std::size_t> shape_;
  std::vector<std::string> axes_;
  mesh_sizes sizes_;
};

}  // namespace twinkle
