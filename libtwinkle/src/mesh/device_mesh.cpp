// SPDX-License-Identifier: Apache-2.0
#include "twinkle/mesh/device_mesh.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "twinkle/base/ensure.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/base/list.hpp"

namespace twinkle {
namespace {

constexpr std::array<std::string_view, 5> known_axes{"fsdp", "pp", "dp", "cp", "tp"};

constexpr std::size_t ranks_max = std::size_t{1} << 20;

// Stops at the largest number rather than wrapping around.
std::size_t product(const std::vector<std::size_t>& shape) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, [](std::size_t total, std::size_t size) {
    return size != 0 && total > most / size ? most : total * size;
  });
}

std::size_t positive(std::string_view name, std::int64_t size) {
  if (size < 1)
    throw error("device mesh: " + std::string(name) + " is " + std::to_string(size) + "; it must be 1 or more");
  if (static_cast<std::size_t>(size) > ranks_max)
    throw error("device mesh: " + std::string(name) + " is " + std::to_string(size) + "; it must be at most " +
                std::to_string(ranks_max));
  return static_cast<std::size_t>(size);
}

void check_ranks(const std::vector<std::size_t>& ranks) {
  std::vector<std::size_t> times(ranks.size(), 0);
  std::vector<std::size_t> duplicates;
  std::vector<std::size_t> outside;
  for (const std::size_t rank : ranks) {
    if (rank >= ranks.size())
      outside.push_back(rank);
    else if (++times[rank] == 2)
      duplicates.push_back(rank);
  }
  std::vector<std::size_t> missing;
  for (std::size_t rank = 0; rank < times.size(); ++rank)
    if (times[rank] == 0)
      missing.push_back(rank);
  if (missing.empty())
    return;
  std::string text = "device mesh: the ranks must be 0.." + std::to_string(ranks.size() - 1) + ", each once;";
  if (!duplicates.empty())
    text += " duplicate: " + list_of_numbers(duplicates) + ";";
  if (!outside.empty())
    text += " out of range: " + list_of_numbers(outside) + ";";
  throw error(text + " missing: " + list_of_numbers(missing));
}

void check_known(std::string_view axis) {
  if (std::find(known_axes.begin(), known_axes.end(), axis) == known_axes.end())
    throw error("device mesh: unknown axis '" + std::string(axis) + "'; the axes are " + list(known_axes));
}

void check_axes(const std::vector<std::string>& axes) {
  if (axes.empty())
    throw error("device mesh: no axes are named; the axes are " + list(known_axes));
  for (const std::string& axis : axes) {
    check_known(axis);
    if (std::count(axes.begin(), axes.end(), axis) > 1)
      throw error("device mesh: axis '" + axis + "' is given twice");
  }
}

void check_expert_view(const mesh_sizes& sizes, std::size_t world) {
  if (!sizes.ep_size && !sizes.etp_size && !sizes.ep_fsdp_size)
    return;
  const std::size_t pp = positive("pp_size", sizes.pp_size.value_or(1));
  const std::size_t ep = positive("ep_size", sizes.ep_size.value_or(1));
  const std::size_t etp = positive("etp_size", sizes.etp_size.value_or(1));
  const std::size_t stage = world / pp;
  const std::string given = "ep " + std::to_string(ep) + " x etp " + std::to_string(etp);
  if (!sizes.ep_fsdp_size) {
    if (stage % (ep * etp) != 0)
      throw error("device mesh: expert view " + given + " does not divide the " + std::to_string(stage) +
                  " ranks of a pipeline stage");
    return;
  }
  const std::size_t ep_fsdp = positive("ep_fsdp_size", *sizes.ep_fsdp_size);
  if (ep * etp * ep_fsdp != stage)
    throw error("device mesh: expert view " + given + " x ep_fsdp " + std::to_string(ep_fsdp) + " is " +
                std::to_string(ep * etp * ep_fsdp) + " ranks, but a pipeline stage has " + std::to_string(stage));
}

void check_ulysses(std::int64_t ulysses, std::size_t data) {
  const std::size_t size = positive("ulysses_size", ulysses);
  if (data % size != 0)
    throw error("device mesh: ulysses_size " + std::to_string(size) + " does not divide dp x fsdp = " +
                std::to_string(data));
}

}  // namespace

device_mesh device_mesh::from_sizes(const mesh_sizes& sizes) {
  std::vector<std::size_t> shape;
  std::vector<std::string> axes;
  const auto add = [&](std::string_view axis, std::optional<std::int64_t> size) {
    if (!size)
      return;
    shape.push_back(positive(std::string(axis) + "_size", *size));
    axes.emplace_back(axis);
  };
  add("fsdp", sizes.fsdp_size);
  add("pp", sizes.pp_size);
  add("dp", sizes.dp_size);
  add("cp", sizes.cp_size);
  add("tp", sizes.tp_size);
  const std::size_t world = product(shape);
  if (world > ranks_max)
    throw error("device mesh: sizes " + list_of_numbers(shape) + " make more than " + std::to_string(ranks_max) +
                " ranks");
  const std::size_t claimed = positive("world_size", sizes.world_size);
  std::vector<std::size_t> ranks(world);
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  device_mesh mesh{std::move(ranks), std::move(shape), std::move(axes), sizes};
  if (claimed != 1 && claimed != world)
    throw error("device mesh: " + mesh.title() + " is " + std::to_string(world) + " ranks, but world_size is " +
                std::to_string(claimed));
  check_ulysses(sizes.ulysses_size.value_or(1), mesh.size("dp") * mesh.size("fsdp"));
  check_expert_view(sizes, world);
  if (sizes.vpp_size)
    positive("vpp_size", *sizes.vpp_size);
  return mesh;
}

device_mesh device_mesh::from_ranks(std::vector<std::size_t> ranks, std::vector<std::size_t> shape,
                                    std::vector<std::string> axes) {
  check_axes(axes);
  if (shape.size() != axes.size())
    throw error("device mesh: the shape has " + std::to_string(shape.size()) + " dimensions, but " +
                std::to_string(axes.size()) + " axes are named: " + list(axes));
  if (ranks.empty() || product(shape) != ranks.size())
    throw error("device mesh: shape " + list_of_numbers(shape) + " holds " + std::to_string(product(shape)) +
                " ranks, but " + std::to_string(ranks.size()) + " are given");
  check_ranks(ranks);
  return {std::move(ranks), std::move(shape), std::move(axes), {}};
}

device_mesh::device_mesh(std::vector<std::size_t> ranks, std::vector<std::size_t> shape,
                         std::vector<std::string> axes, mesh_sizes sizes)
    : ranks_(std::move(ranks)),
      positions_(ranks_.size()),
      shape_(std::move(shape)),
      axes_(std::move(axes)),
      sizes_(std::move(sizes)) {
  for (std::size_t position = 0; position < ranks_.size(); ++position)
    positions_[ranks_[position]] = position;
}

std::size_t device_mesh::size(std::string_view axis) const {
  for (std::size_t at = 0; at < axes_.size(); ++at)
    if (axes_[at] == axis)
      return shape_[at];
  return 1;
}

std::size_t device_mesh::coordinate(std::size_t rank, std::string_view axis) const {
  ensure(rank < world_size(), "a rank of this mesh");
  std::size_t position = positions_[rank];
  for (std::size_t at = axes_.size(); at-- > 0;) {
    if (axes_[at] == axis)
      return position % shape_[at];
    position /= shape_[at];
  }
  return 0;
}

std::size_t device_mesh::data_rank(std::size_t rank) const {
  const auto ulysses = static_cast<std::size_t>(sizes_.ulysses_size.value_or(1));
  return (coordinate(rank, "dp") * size("fsdp") + coordinate(rank, "fsdp")) / ulysses;
}

std::size_t device_mesh::data_ranks() const {
  return size("dp") * size("fsdp") / static_cast<std::size_t>(sizes_.ulysses_size.value_or(1));
}

interval device_mesh::get_slice(std::size_t length, std::size_t data_rank) const {
  ensure(data_rank < data_ranks(), "a data rank of this mesh");
  return even_part(length, data_ranks(), data_rank);
}

std::vector<std::size_t> device_mesh::representatives() const {
  std::vector<std::size_t> found(data_ranks(), world_size());
  const std::size_t last = size("pp") - 1;
  for (std::size_t rank = 0; rank < world_size(); ++rank)
    if (coordinate(rank, "pp") == last) {
      std::size_t& best = found[data_rank(rank)];
      best = std::min(best, rank);
    }
  return found;
}

std::vector<std::size_t> device_mesh::group(std::size_t rank, std::initializer_list<std::string_view> along) const {
  std::for_each(along.begin(), along.end(), check_known);
  std::vector<std::size_t> members;
  for (std::size_t other = 0; other < world_size(); ++other) {
    const bool same = std::all_of(axes_.begin(), axes_.end(), [&](const std::string& axis) {
      return std::find(along.begin(), along.end(), axis) != along.end() ||
             coordinate(other, axis) == coordinate(rank, axis);
    });
    if (same)
      members.push_back(other);
  }
  return members;
}

std::string device_mesh::coordinates(std::size_t rank) const {
  std::vector<std::string> parts;
  for (const std::string& axis : axes_)
    parts.push_back(axis + "=" + std::to_string(coordinate(rank, axis)));
  return list(parts, ",");
}

std::string device_mesh::title() const {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < axes_.size(); ++at)
    parts.push_back(axes_[at] + " " + std::to_string(shape_[at]));
  return list(parts, " x ");
}

std::string device_mesh::draw() const {
  std::string text = "device mesh " + title() + ": " + std::to_string(world_size()) + " ranks, " +
                     std::to_string(data_ranks()) + " data ranks\n";
  const std::size_t width = std::to_string(world_size() - 1).size();
  const std::size_t inner = shape_.empty() ? 1 : shape_.back();
  for (std::size_t position = 0; position < ranks_.size(); ++position) {
    const std::size_t rank = ranks_[position];
    if (position % inner == 0) {
      text += position == 0 ? " " : "\n ";
      for (std::size_t at = 0; at + 1 < axes_.size(); ++at)
        text += " " + axes_[at] + " " + std::to_string(coordinate(rank, axes_[at]));
    }
    const std::string number = std::to_string(rank);
    text += "  " + axes_.back() + " " + std::to_string(position % inner) + ": rank " +
            std::string(width - number.size(), ' ') + number + " (data " + std::to_string(data_rank(rank)) + ")";
  }
  return text + "\n";
}

}  // namespace twinkle
