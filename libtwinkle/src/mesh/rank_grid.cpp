// SPDX-License-Identifier: Apache-2.0
#include "twinkle/mesh/rank_grid.hpp"

#include <algorithm>
#include <utility>

#include "twinkle/base/error.hpp"
#include "twinkle/base/list.hpp"

namespace twinkle {
namespace {

bool contains(const axis_list& axes, std::string_view axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

}  // namespace

rank_grid::rank_grid(std::vector<std::size_t> ranks, std::vector<std::size_t> shape, std::vector<std::string> axes)
    : ranks_(std::move(ranks)), positions_(ranks_.size()), steps_(shape.size()), axes_(std::move(axes)) {
  std::size_t stride = 1;
  for (std::size_t at = shape.size(); at-- > 0; stride *= shape[at])
    steps_[at] = {shape[at], stride};
  for (std::size_t position = 0; position < ranks_.size(); ++position)
    positions_[ranks_[position]] = position;
}

rank_grid::step rank_grid::along(std::string_view axis) const {
  const auto found = std::find(axes_.begin(), axes_.end(), axis);
  return found == axes_.end() ? step{} : steps_[static_cast<std::size_t>(found - axes_.begin())];
}

std::size_t rank_grid::position(std::size_t rank) const {
  if (rank >= world_size())
    throw error("there is no rank " + std::to_string(rank) + " in " + title() + ", which has the ranks 0.." +
                std::to_string(world_size() - 1));
  return positions_[rank];
}

std::vector<std::size_t> rank_grid::coordinates_along(std::string_view axis) const {
  const step on = along(axis);
  std::vector<std::size_t> found(world_size());
  for (std::size_t position = 0; position < world_size();)
    for (std::size_t coordinate = 0; coordinate < on.size; ++coordinate)
      for (const std::size_t end = position + on.stride; position < end; ++position)
        found[ranks_[position]] = coordinate;
  return found;
}

std::vector<std::size_t> rank_grid::offsets(const axis_list& axes, bool in) const {
  std::vector<std::size_t> found{0};
  for (std::size_t at = 0; at < axes_.size(); ++at) {
    if (contains(axes, axes_[at]) != in)
      continue;
    std::vector<std::size_t> inner;
    inner.reserve(found.size() * steps_[at].size);
    for (const std::size_t outer : found)
      for (std::size_t coordinate = 0; coordinate < steps_[at].size; ++coordinate)
        inner.push_back(outer + coordinate * steps_[at].stride);
    found = std::move(inner);
  }
  return found;
}

std::vector<std::size_t> rank_grid::group(std::size_t rank, const axis_list& axes) const {
  const std::size_t here = position(rank);
  std::size_t first = here;
  for (std::size_t at = 0; at < axes_.size(); ++at)
    if (contains(axes, axes_[at]))
      first -= steps_[at].coordinate(here) * steps_[at].stride;
  std::vector<std::size_t> members = offsets(axes, true);
  for (std::size_t& member : members)
    member = ranks_[first + member];
  std::sort(members.begin(), members.end());
  return members;
}

std::vector<std::vector<std::size_t>> rank_grid::groups(const axis_list& axes) const {
  const std::vector<std::size_t> within = offsets(axes, true);
  std::vector<std::vector<std::size_t>> found;
  for (const std::size_t first : offsets(axes, false)) {
    std::vector<std::size_t>& members = found.emplace_back();
    members.reserve(within.size());
    for (const std::size_t offset : within)
      members.push_back(ranks_[first + offset]);
    std::sort(members.begin(), members.end());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string rank_grid::coordinates(std::size_t rank) const {
  const std::size_t here = position(rank);
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < axes_.size(); ++at)
    parts.push_back(axes_[at] + "=" + std::to_string(steps_[at].coordinate(here)));
  return list(parts, ",");
}

std::string rank_grid::title() const {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < axes_.size(); ++at)
    parts.push_back(axes_[at] + " " + std::to_string(steps_[at].size));
  return list(parts, " x ");
}

std::string rank_grid::draw(const std::function<std::string(std::size_t)>& note) const {
  std::string text;
  const std::size_t width = std::to_string(world_size() - 1).size();
  const std::size_t inner = steps_.back().size;
  for (std::size_t position = 0; position < ranks_.size(); ++position) {
    if (position % inner == 0) {
      text += position == 0 ? " " : "\n ";
      for (std::size_t at = 0; at + 1 < axes_.size(); ++at)
        text += " " + axes_[at] + " " + std::to_string(steps_[at].coordinate(position));
    }
    const std::string number = std::to_string(ranks_[position]);
    text += "  " + axes_.back() + " " + std::to_string(position % inner) + ": rank " +
            std::string(width - number.size(), ' ') + number + note(ranks_[position]);
  }
  return text + "\n";
}

}  // namespace twinkle
