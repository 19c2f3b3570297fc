// SPDX-License-Identifier: Apache-2.0
#include "cluster_reading.hpp"
#include "subcommand.hpp"
#include "twinkle/base/list.hpp"
#include "twinkle/place/placement.hpp"

namespace twinkle::command {
namespace {

using boost::json::value_from;
using place::placed_group;

struct worker {
  std::string node = {};
  std::vector<std::size_t> devices = {};  // as the node numbers them
  std::vector<std::size_t> ranks = {};    // of the group
};

std::vector<worker> workers_of(const placed_group& group, const place::cluster& machines) {
  std::vector<worker> workers(group.workers());
  for (std::size_t rank = 0; rank < group.seats.size(); ++rank) {
    worker& of_rank = workers[rank / group.gpus_per_worker];
    of_rank.node = machines.nodes[group.seats[rank].node].name;
    of_rank.devices.push_back(group.seats[rank].local_rank);
    of_rank.ranks.push_back(rank);
  }
  return workers;
}

class place_command final : public subcommand {
 public:
  explicit place_command(CLI::App& to)
      : subcommand(*to.add_subcommand("place", "the groups of a cluster file on its nodes: who gets which devices")) {
    app().add_option("FILE", path_, "a cluster file in TOML, with [[node]]s and [[group]]s")
        ->type_name("")
        ->required();
    app().footer("Example:\n  twinkle place cluster.toml");
  }

 private:
  [[nodiscard]] place::placement answer() const {
    const place::cluster_file file = read_cluster(path_);  // what follows from a mistake would only hide it
    place::placement placed = place::place_groups(file.groups, file.machines);
    std::vector<std::string> wrong;
    for (const std::string& each : placed.problems)
      wrong.push_back(path_ + ": " + each);
    if (!wrong.empty())
      throw refused(std::move(wrong));
    return placed;
  }

  [[nodiscard]] boost::json::object json(boost::json::storage_ptr memory) const override {
    const place::placement placed = answer();
    boost::json::object object(memory);
    boost::json::array& workers = object["workers"].emplace_array();
    for (const placed_group& group : placed.groups)
      for (std::size_t index = 0; const worker& each : workers_of(group, placed.machines))
        workers.push_back(boost::json::object({{"group", group.name},
                                               {"index", index++},
                                               {"node", each.node},
                                               {"devices", value_from(each.devices, memory)},
                                               {"ranks", value_from(each.ranks, memory)}},
                                              memory));
    return object;
  }

  [[nodiscard]] std::string text() const override {
    const place::placement placed = answer();
    std::string text = draw(placed) + "workers\n";
    for (const placed_group& group : placed.groups)
      for (std::size_t index = 0; const worker& each : workers_of(group, placed.machines))
        text += "  " + group.name + " " + std::to_string(index++) + "  " + each.node + "  " + group.device_type +
                " " + list_of_numbers(each.devices) + "  ranks " + list_of_numbers(each.ranks) + "\n";
    return text;
  }

  std::string path_;
};

}  // namespace

std::unique_ptr<subcommand> place_subcommand(CLI::App& app) { return std::make_unique<place_command>(app); }

}  // namespace twinkle::command
