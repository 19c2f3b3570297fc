// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "twinkle/mesh/device_mesh.hpp"
#include "twinkle/mesh/rank_grid.hpp"

namespace twinkle {

/// The ranks of a mesh as its experts see them: within each pipeline stage of the mesh its ranks, in ascending order,
/// nest ep, ep_fsdp, etp, outermost first.
///
///     {.dp_size = 8, .ep_size = 2, .etp_size = 2}              etp 0  etp 1
///                                              ep 0  ep_fsdp 0     0      1
///                                                    ep_fsdp 1     2      3
///                                              ep 1  ep_fsdp 0     4      5
///                                                    ep_fsdp 1     6      7
class expert_view {
 public:
  struct place {
    std::size_t pp = 0;
    std::size_t ep = 0;
    std::size_t ep_fsdp = 0;
    std::size_t etp = 0;

    friend bool operator==(const place&, const place&) = default;
  };

  /// Sizes that the mesh does not give are 1, but for ep_fsdp: world / (pp x ep x etp).
  explicit expert_view(const device_mesh& mesh);

  [[nodiscard]] std::size_t world_size() const { return grid_.world_size(); }

  /// pp, ep, ep_fsdp, etp
  [[nodiscard]] const std::vector<std::string>& axes() const { return grid_.axes(); }

  [[nodiscard]] std::size_t size(std::string_view axis) const;

  [[nodiscard]] place at(std::size_t rank) const;

  /// The ranks that differ from `rank` only along `axes` (pp, ep, ep_fsdp, etp), ascending; itself included.
  [[nodiscard]] std::vector<std::size_t> group(std::size_t rank, const axis_list& axes) const;

  /// All groups along `axes`, by their smallest ranks; each rank is in one of them.
  [[nodiscard]] std::vector<std::vector<std::size_t>> groups(const axis_list& axes) const;

  /// "pp=0,ep=1,ep_fsdp=0,etp=1"
  [[nodiscard]] std::string coordinates(std::size_t rank) const { return grid_.coordinates(rank); }

  /// "pp 1 x ep 2 x ep_fsdp 2 x etp 2"
  [[nodiscard]] std::string title() const { return grid_.title(); }

  /// Every rank with its coordinates, a line for each position on pp, ep and ep_fsdp.
  [[nodiscard]] std::string draw() const;

 private:
  rank_grid grid_;
};

}  // namespace twinkle
