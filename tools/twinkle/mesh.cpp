// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "arguments.hpp"
#include "subcommand.hpp"
#include "twinkle/base/list.hpp"
#include "twinkle/mesh/device_mesh.hpp"
#include "twinkle/mesh/expert_view.hpp"

namespace twinkle::command {
namespace {

using boost::json::value_from;

class mesh_command final : public subcommand {
 public:
  explicit mesh_command(CLI::App& to)
      : subcommand(*to.add_subcommand("mesh", "a device mesh: coordinates, data ranks, groups, experts, slices")) {
    add_mesh_sizes(app(), sizes_);
    add_number<std::size_t>(app(), "--rows", rows_, "rows of a batch, to be sliced over the data ranks");
    app().footer("Example:\n  twinkle mesh --dp 2 --pp 2 --tp 2 --rows 7");
  }

 private:
  [[nodiscard]] boost::json::object json(boost::json::storage_ptr memory) const override {
    const device_mesh mesh = device_mesh::from_sizes(sizes_);
    boost::json::object made(memory);
    made["world_size"] = mesh.world_size();
    made["coordinates"] = coordinates(mesh, memory);
    made["data_ranks"] = value_from(mesh.data_rank_of_each(), memory);
    made["representatives"] = value_from(mesh.representatives(), memory);
    boost::json::object& groups = made["groups"].emplace_object();
    for (const std::string& axis : mesh.axes())
      groups[axis] = value_from(mesh.groups({axis}), memory);
    if (sizes_.ep_size)
      made["expert"] = experts(mesh, memory);
    if (rows_)
      for (boost::json::array& slices = made["slices"].emplace_array(); const interval& each : mesh.slices(*rows_))
        slices.push_back(boost::json::array({each.first, each.end}, memory));
    return made;
  }

  static boost::json::array coordinates(const device_mesh& mesh, const boost::json::storage_ptr& memory) {
    boost::json::array made(mesh.world_size(), boost::json::object(memory), memory);
    for (const std::string& axis : mesh.axes()) {
      const std::vector<std::size_t> along = mesh.coordinates_along(axis);
      for (std::size_t rank = 0; rank < along.size(); ++rank) {
        boost::json::object& of_rank = made[rank].get_object();
        of_rank.reserve(mesh.axes().size());
        of_rank.emplace(axis, along[rank]);
      }
    }
    return made;
  }

  static boost::json::array experts(const device_mesh& mesh, const boost::json::storage_ptr& memory) {
    const expert_view view{mesh};
    boost::json::array made(memory);
    made.reserve(view.world_size());
    for (std::size_t rank = 0; rank < view.world_size(); ++rank) {
      const expert_view::place at = view.at(rank);
      made.push_back(boost::json::object(
          {{"pp", at.pp}, {"ep", at.ep}, {"ep_fsdp", at.ep_fsdp}, {"etp", at.etp}}, memory));
    }
    return made;
  }

  [[nodiscard]] std::string text() const override {
    const device_mesh mesh = device_mesh::from_sizes(sizes_);
    std::string made = mesh.draw();
    if (sizes_.ep_size)
      made += expert_view{mesh}.draw();
    made += "representatives  " + list_of_numbers(mesh.representatives()) + "\n";
    made += "groups\n";
    for (const std::string& axis : mesh.axes()) {
      made += "  along " + axis + " ";
      for (const std::vector<std::size_t>& group : mesh.groups({axis}))
        made += " " + list_of_numbers(group);
      made += "\n";
    }
    if (rows_) {
      made += "slices of " + std::to_string(*rows_) + " rows ";
      for (const interval& each : mesh.slices(*rows_))
        made += " " + to_string(each);
      made += "\n";
    }
    return made;
  }

  mesh_sizes sizes_;
  std::optional<std::size_t> rows_;
};

}  // namespace

std::unique_ptr<subcommand> mesh_subcommand(CLI::App& app) { return std::make_unique<mesh_command>(app); }

}  // namespace twinkle::command
