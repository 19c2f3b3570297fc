// SPDX-License-Identifier: Apache-2.0
#include "twinkle/mesh/device_mesh.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>

#include "axis_names.hpp"
#include "expert_sizes.hpp"
#include "twinkle/mesh/device_group.hpp"

namespace twinkle {
namespace {

constexpr std::array<std::string_view, 5> known_axes{"fsdp", "pp", "dp", "cp", "tp"};

// Stops at the largest number rather than wrapping around.
std::size_t product(const std::vector<std::size_t>& shape) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, [](std::size_t total, std::size_t size) {
    return size != 0 && total > most / size ? most : total * size;
  });
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

void check_axis(std::string_view axis) { check_known(axis, known_axes, "device mesh"); }

void check_axes(const std::vector<std::string>& axes) {
  if (axes.empty())
    throw error("device mesh: no axes are named; the axes are " + list(known_axes));
  for (const std::string& axis : axes) {
    check_axis(axis);
    if (std::count(axes.begin(), axes.end(), axis) > 1)
      throw error("device mesh: axis '" + axis + "' is given twice");
  }
}

// Several sizes that are none are told at once; one alone where it is used.
void check_positive(const mesh_sizes& sizes) {
  std::vector<std::string> wrong;
  const auto look = [&](const char* name, std::optional<std::int64_t> size) {
    if (size && *size < 1)
      wrong.push_back(std::string(name) + " is " + std::to_string(*size));
  };
  look("world_size", sizes.world_size);
  look("fsdp_size", sizes.fsdp_size);
  look("pp_size", sizes.pp_size);
  look("dp_size", sizes.dp_size);
  look("cp_size", sizes.cp_size);
  look("tp_size", sizes.tp_size);
  look("ulysses_size", sizes.ulysses_size);
  look("ep_size", sizes.ep_size);
  look("etp_size", sizes.etp_size);
  look("ep_fsdp_size", sizes.ep_fsdp_size);
  look("vpp_size", sizes.vpp_size);
  if (wrong.size() > 1)
    throw error("device mesh: " + list(wrong) + "; each must be 1 or more");
}

// Makes `size`, as it was given beside a shape, that of the shape.
void settle(std::string_view axis, std::optional<std::int64_t>& size, const rank_grid& grid) {
  const std::size_t actual = grid.along(axis).size;
  const std::string name = std::string(axis) + "_size";
  if (size && positive(name, *size) != actual)
    throw error("device mesh: " + name + " is " + std::to_string(*size) + ", but the shape is " + grid.title());
  const bool has = std::find(grid.axes().begin(), grid.axes().end(), axis) != grid.axes().end();
  if (has)
    size = static_cast<std::int64_t>(actual);
}

}  // namespace

device_mesh device_mesh::from_sizes(const mesh_sizes& sizes) {
  check_positive(sizes);
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
  std::vector<std::size_t> ranks(world);
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  return {rank_grid{std::move(ranks), std::move(shape), std::move(axes)}, sizes};
}

device_mesh device_mesh::from_ranks(std::vector<std::size_t> ranks, std::vector<std::size_t> shape,
                                    std::vector<std::string> axes, mesh_sizes beside) {
  check_axes(axes);
  if (shape.size() != axes.size())
    throw error("device mesh: the shape has " + std::to_string(shape.size()) + " dimensions, but " +
                std::to_string(axes.size()) + " axes are named: " + list(axes));
  if (ranks.empty() || product(shape) != ranks.size())
    throw error("device mesh: shape " + list_of_numbers(shape) + " holds " + std::to_string(product(shape)) +
                " ranks, but " + std::to_string(ranks.size()) + " are given");
  if (ranks.size() > ranks_max)
    throw error("device mesh: " + std::to_string(ranks.size()) + " ranks are given; it must be at most " +
                std::to_string(ranks_max));
  check_ranks(ranks);
  rank_grid grid{std::move(ranks), std::move(shape), std::move(axes)};
  settle("fsdp", beside.fsdp_size, grid);
  settle("pp", beside.pp_size, grid);
  settle("cp", beside.cp_size, grid);
  settle("tp", beside.tp_size, grid);
  std::optional<std::int64_t> dp = beside.dp_size;
  if (dp == 1)
    dp = std::nullopt;  // as if it had not been given
  settle("dp", dp, grid);
  beside.dp_size = dp.value_or(1);
  return {std::move(grid), std::move(beside)};
}

device_mesh::device_mesh(rank_grid grid, mesh_sizes sizes)
    : grid_(std::move(grid)), sizes_(std::move(sizes)), dp_(grid_.along("dp")), fsdp_(grid_.along("fsdp")) {
  check();
  ulysses_ = static_cast<std::size_t>(sizes_.ulysses_size.value_or(1));
}

void device_mesh::check() const {
  const std::size_t claimed = positive("world_size", sizes_.world_size);
  if (claimed != 1 && claimed != world_size())
    throw error("device mesh: " + title() + " is " + std::to_string(world_size()) + " ranks, but world_size is " +
                std::to_string(claimed));
  const std::size_t ulysses = positive("ulysses_size", sizes_.ulysses_size.value_or(1));
  const std::size_t data = dp_.size * fsdp_.size;
  if (data % ulysses != 0)
    throw error("device mesh: ulysses_size " + std::to_string(ulysses) + " does not divide dp x fsdp = " +
                std::to_string(data));
  (void)sizes_of_experts(sizes_, world_size() / size("pp"));
  if (sizes_.vpp_size)
    (void)positive("vpp_size", *sizes_.vpp_size);
}

std::string device_mesh::device_type() const {
  return sizes_.device_type.empty() ? "cuda" : canonical_device_type(sizes_.device_type);
}

std::size_t device_mesh::size(std::string_view axis) const {
  check_axis(axis);
  return grid_.along(axis).size;
}

std::size_t device_mesh::coordinate(std::size_t rank, std::string_view axis) const {
  check_axis(axis);
  return grid_.along(axis).coordinate(grid_.position(rank));
}

std::vector<std::size_t> device_mesh::coordinates_along(std::string_view axis) const {
  check_axis(axis);
  return grid_.coordinates_along(axis);
}

std::size_t device_mesh::data_rank(std::size_t rank) const {
  const std::size_t position = grid_.position(rank);
  return (dp_.coordinate(position) * fsdp_.size + fsdp_.coordinate(position)) / ulysses_;
}

std::size_t device_mesh::data_ranks() const { return dp_.size * fsdp_.size / ulysses_; }

std::vector<std::size_t> device_mesh::data_rank_of_each() const {
  std::vector<std::size_t> found(world_size());
  for (std::size_t rank = 0; rank < found.size(); ++rank)
    found[rank] = data_rank(rank);
  return found;
}

interval device_mesh::get_slice(std::size_t length, std::size_t data_rank) const {
  if (data_rank >= data_ranks())
    throw error("device mesh: there is no data rank " + std::to_string(data_rank) + " in " + title() +
                ", which has the data ranks 0.." + std::to_string(data_ranks() - 1));
  return even_part(length, data_ranks(), data_rank);
}

std::vector<interval> device_mesh::slices(std::size_t length) const {
  std::vector<interval> found(data_ranks());
  for (std::size_t part = 0; part < found.size(); ++part)
    found[part] = even_part(length, found.size(), part);
  return found;
}

std::vector<std::size_t> device_mesh::representatives() const {
  std::vector<std::size_t> found(data_ranks(), world_size());
  for (const std::size_t rank : last_pp_stage())
    if (std::size_t& best = found[data_rank(rank)]; rank < best)
      best = rank;
  return found;
}

std::vector<std::size_t> device_mesh::group(std::size_t rank, const axis_list& along) const {
  std::for_each(along.begin(), along.end(), check_axis);
  return grid_.group(rank, along);
}

std::vector<std::vector<std::size_t>> device_mesh::groups(const axis_list& along) const {
  std::for_each(along.begin(), along.end(), check_axis);
  return grid_.groups(along);
}

std::vector<std::size_t> device_mesh::pp_stage(std::size_t stage) const {
  if (stage >= size("pp"))
    throw error("device mesh: there is no pipeline stage " + std::to_string(stage) + " in " + title() +
                ", which has the stages 0.." + std::to_string(size("pp") - 1));
  return ranks_at("pp", stage);
}

std::vector<std::size_t> device_mesh::last_tp_ranks() const { return ranks_at("tp", size("tp") - 1); }

std::vector<std::size_t> device_mesh::ranks_at(std::string_view axis, std::size_t coordinate) const {
  const std::vector<std::size_t> of_each = grid_.coordinates_along(axis);
  std::vector<std::size_t> found;
  for (std::size_t rank = 0; rank < of_each.size(); ++rank)
    if (of_each[rank] == coordinate)
      found.push_back(rank);
  return found;
}

std::string device_mesh::draw() const {
  return "device mesh " + title() + ": " + std::to_string(world_size()) + " ranks, " + std::to_string(data_ranks()) +
         " data ranks\n" +
         grid_.draw([&](std::size_t rank) { return " (data " + std::to_string(data_rank(rank)) + ")"; });
}

}  // namespace twinkle
