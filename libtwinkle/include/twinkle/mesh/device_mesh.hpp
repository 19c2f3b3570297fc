// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "twinkle/base/interval.hpp"
#include "twinkle/mesh/mesh_sizes.hpp"
#include "twinkle/mesh/rank_grid.hpp"

namespace twinkle {

/// Ranks 0..n-1 arranged along named parallelism axes, outermost first: fsdp, pp, dp, cp, tp.
///
///     from_sizes({.dp_size = 2, .tp_size = 2})        tp 0   tp 1
///                                              dp 0      0      1    data rank 0
///                                              dp 1      2      3    data rank 1
///
/// An axis that the mesh has not counts as 1. A name that is no axis, a rank, a data rank or a pipeline stage that the
/// mesh has not, is an `error`. Expert axes lie beside these, in expert_view.
class device_mesh {
 public:
  /// A mesh of one rank.
  device_mesh() : device_mesh(from_sizes({})) {}

  /// Throws `error` for sizes below 1, more than 2^20 ranks, a world size that is not their product, an ulysses size
  /// that does not divide dp x fsdp, and an expert view whose product is not the world.
  [[nodiscard]] static device_mesh from_sizes(const mesh_sizes& sizes);

  /// `ranks` in row-major order over `shape`, whose axes are `axes`: any of them, in any order. What is no axis of it
  /// (ulysses, experts, …) may be given in `beside`. Throws `error` naming duplicate and missing ranks, axes that are
  /// unknown or given twice, and sizes of `beside` that are not those of the shape.
  [[nodiscard]] static device_mesh from_ranks(std::vector<std::size_t> ranks, std::vector<std::size_t> shape,
                                              std::vector<std::string> axes, mesh_sizes beside = {});

  [[nodiscard]] std::size_t world_size() const { return grid_.world_size(); }
  [[nodiscard]] const std::vector<std::string>& axes() const { return grid_.axes(); }

  /// What it was made from; of an explicit mesh also the sizes of its axes.
  [[nodiscard]] const mesh_sizes& sizes() const { return sizes_; }

  /// "cuda" where none was given: of a mesh without a group.
  [[nodiscard]] std::string device_type() const;

  [[nodiscard]] std::size_t size(std::string_view axis) const;

  [[nodiscard]] std::size_t coordinate(std::size_t rank, std::string_view axis) const;

  /// Of each rank, its coordinate on `axis`: quicker than asking rank by rank.
  [[nodiscard]] std::vector<std::size_t> coordinates_along(std::string_view axis) const;

  /// (dp * fsdp_size + fsdp) / ulysses_size: which part of a batch the rank works on.
  [[nodiscard]] std::size_t data_rank(std::size_t rank) const;
  [[nodiscard]] std::size_t data_ranks() const;

  /// Of each rank, its data rank.
  [[nodiscard]] std::vector<std::size_t> data_rank_of_each() const;

  /// The rows of `length` that a data rank works on: even parts, the longer ones first.
  [[nodiscard]] interval get_slice(std::size_t length, std::size_t data_rank) const;

  /// Of each data rank, its slice.
  [[nodiscard]] std::vector<interval> slices(std::size_t length) const;

  /// One rank per data rank, in data-rank order: the smallest in the last pipeline stage.
  [[nodiscard]] std::vector<std::size_t> representatives() const;

  /// The ranks that differ from `rank` only along `axes`, ascending; itself included.
  [[nodiscard]] std::vector<std::size_t> group(std::size_t rank, const axis_list& axes) const;

  /// All groups along `axes`, by their smallest ranks; each rank is in one of them.
  [[nodiscard]] std::vector<std::vector<std::size_t>> groups(const axis_list& axes) const;

  /// The ranks of one pipeline stage, ascending.
  [[nodiscard]] std::vector<std::size_t> pp_stage(std::size_t stage) const;
  [[nodiscard]] std::vector<std::size_t> first_pp_stage() const { return pp_stage(0); }
  [[nodiscard]] std::vector<std::size_t> last_pp_stage() const { return pp_stage(size("pp") - 1); }

  /// The ranks whose coordinate on tp is the last one, ascending.
  [[nodiscard]] std::vector<std::size_t> last_tp_ranks() const;

  /// "dp=1,tp=0": the coordinates of `rank` on all axes of the mesh.
  [[nodiscard]] std::string coordinates(std::size_t rank) const { return grid_.coordinates(rank); }

  /// "pp 2 x dp 2 x tp 2"
  [[nodiscard]] std::string title() const { return grid_.title(); }

  /// Every rank with its coordinates and data rank, a line for each position on the outer axes.
  [[nodiscard]] std::string draw() const;

 private:
  device_mesh(rank_grid grid, mesh_sizes sizes);

  void check() const;
  [[nodiscard]] std::vector<std::size_t> ranks_at(std::string_view axis, std::size_t coordinate) const;

  rank_grid grid_;
  mesh_sizes sizes_;
  rank_grid::step dp_;  // looked up once: data_rank is asked for often
  rank_grid::step fsdp_;
  std::size_t ulysses_ = 1;
};

}  // namespace twinkle
