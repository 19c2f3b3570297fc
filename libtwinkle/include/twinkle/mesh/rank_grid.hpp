// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace twinkle {

/// Names of axes, in any order: `{"dp", "tp"}`.
using axis_list = std::vector<std::string_view>;

/// Ranks 0..n-1, each once, in row-major order over named axes, outermost first. What device_mesh and expert_view have
/// in common: it checks nothing but that a rank is one of its own. An axis that it has not counts as 1.
class rank_grid {
 public:
  /// How far apart neighbours on an axis are, by position, and how many there are.
  struct step {
    std::size_t size = 1;
    std::size_t stride = 1;

    [[nodiscard]] std::size_t coordinate(std::size_t position) const { return position / stride % size; }
  };

  rank_grid(std::vector<std::size_t> ranks, std::vector<std::size_t> shape, std::vector<std::string> axes);

  [[nodiscard]] std::size_t world_size() const { return ranks_.size(); }
  [[nodiscard]] const std::vector<std::string>& axes() const { return axes_; }
  [[nodiscard]] step along(std::string_view axis) const;

  /// Where `rank` lies in row-major order. Throws `error` for a rank that there is not.
  [[nodiscard]] std::size_t position(std::size_t rank) const;

  /// Of each rank, its coordinate on `axis`. No division is done, so that it costs about as much as the list itself.
  [[nodiscard]] std::vector<std::size_t> coordinates_along(std::string_view axis) const;

  /// The ranks that differ from `rank` only along `axes`, ascending; itself included.
  [[nodiscard]] std::vector<std::size_t> group(std::size_t rank, const axis_list& axes) const;

  /// All groups along `axes`, by their smallest ranks. Each rank is in one of them.
  [[nodiscard]] std::vector<std::vector<std::size_t>> groups(const axis_list& axes) const;

  /// "dp=1,tp=0"
  [[nodiscard]] std::string coordinates(std::size_t rank) const;

  /// "dp 2 x tp 2"
  [[nodiscard]] std::string title() const;

  /// Every rank with `note` of it, a line for each position on the outer axes.
  [[nodiscard]] std::string draw(const std::function<std::string(std::size_t)>& note) const;

 private:
  /// Positions of all coordinates on the axes that are in `axes`, or on those that are not, the others being 0.
  [[nodiscard]] std::vector<std::size_t> offsets(const axis_list& axes, bool in) const;

  std::vector<std::size_t> ranks_;      // position -> rank
  std::vector<std::size_t> positions_;  // rank -> position
  std::vector<step> steps_;             // of each axis
  std::vector<std::string> axes_;
};

}  // namespace twinkle
