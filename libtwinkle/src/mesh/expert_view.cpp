// SPDX-License-Identifier: Apache-2.0
#include "twinkle/mesh/expert_view.hpp"

#include "axis_names.hpp"
#include "expert_sizes.hpp"

namespace twinkle {
namespace {

rank_grid grid_of(const device_mesh& mesh) {
  const std::size_t pp = mesh.size("pp");
  const expert_sizes sizes = sizes_of_experts(mesh.sizes(), mesh.world_size() / pp);
  std::vector<std::size_t> ranks;
  ranks.reserve(mesh.world_size());
  for (std::size_t stage = 0; stage < pp; ++stage) {
    const std::vector<std::size_t> members = mesh.pp_stage(stage);
    ranks.insert(ranks.end(), members.begin(), members.end());
  }
  return {std::move(ranks), {pp, sizes.ep, sizes.ep_fsdp, sizes.etp}, {"pp", "ep", "ep_fsdp", "etp"}};
}

}  // namespace

expert_sizes sizes_of_experts(const mesh_sizes& given, std::size_t stage) {
  const std::size_t ep = positive("ep_size", given.ep_size.value_or(1));
  const std::size_t etp = positive("etp_size", given.etp_size.value_or(1));
  const std::string product = "ep " + std::to_string(ep) + " x etp " + std::to_string(etp);
  if (given.ep_fsdp_size) {
    const std::size_t ep_fsdp = positive("ep_fsdp_size", *given.ep_fsdp_size);
    if (ep * etp * ep_fsdp != stage)
      throw error("device mesh: expert view " + product + " x ep_fsdp " + std::to_string(ep_fsdp) + " is " +
                  std::to_string(ep * etp * ep_fsdp) + " ranks, but a pipeline stage has " + std::to_string(stage));
  } else if (stage % (ep * etp) != 0) {
    throw error("device mesh: expert view " + product + " does not divide the " + std::to_string(stage) +
                " ranks of a pipeline stage");
  }
  return {ep, stage / (ep * etp), etp};
}

expert_view::expert_view(const device_mesh& mesh) : grid_(grid_of(mesh)) {}

std::size_t expert_view::size(std::string_view axis) const {
  check_known(axis, axes(), "expert view");
  return grid_.along(axis).size;
}

expert_view::place expert_view::at(std::size_t rank) const {
  const std::size_t position = grid_.position(rank);
  const auto on = [&](std::string_view axis) { return grid_.along(axis).coordinate(position); };
  return {on("pp"), on("ep"), on("ep_fsdp"), on("etp")};
}

std::vector<std::size_t> expert_view::group(std::size_t rank, const axis_list& along) const {
  for (const std::string_view axis : along)
    check_known(axis, axes(), "expert view");
  return grid_.group(rank, along);
}

std::vector<std::vector<std::size_t>> expert_view::groups(const axis_list& along) const {
  for (const std::string_view axis : along)
    check_known(axis, axes(), "expert view");
  return grid_.groups(along);
}

std::string expert_view::draw() const {
  return "expert view " + title() + ": " + std::to_string(world_size()) + " ranks\n" +
         grid_.draw([](std::size_t) { return std::string(); });
}

}  // namespace twinkle
