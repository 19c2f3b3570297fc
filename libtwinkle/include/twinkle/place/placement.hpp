// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "twinkle/mesh/device_group.hpp"
#include "twinkle/place/cluster.hpp"

namespace twinkle::place {

/// A group on its devices; a cpu group's devices are cpus. All lists are by rank of the group.
struct placed_group {
  std::string name;
  std::string device_type;
  std::vector<std::size_t> devices = {};  ///< as the cluster numbers them
  std::vector<seat> seats = {};
  std::size_t gpus_per_worker = 1;
  std::vector<std::string> visible_devices = {};  ///< of each rank; none where the group says nothing of them

  [[nodiscard]] std::size_t workers() const { return devices.size() / gpus_per_worker; }
};

/// Groups on a cluster. With problems, what could be placed is.
struct placement {
  std::vector<std::string> problems = {};
  cluster machines = {};
  bool described = false;                 ///< the cluster was given, not made from what the groups ask for
  std::vector<placed_group> groups = {};  ///< in the order of declaration
};

/// Lists are placed first, then counts in the order of declaration, on the first free runs of gpus_per_worker devices
/// on one node. Devices that only groups hold that may be colocated with it are free to a group. A cpu group takes
/// cpus. A group that is given twice must be alike. All problems are told at once.
[[nodiscard]] placement place_groups(const std::vector<device_group>& groups, const cluster& machines);

/// The same on one machine, which is taken to have what the groups ask for; each type of device is numbered by itself.
[[nodiscard]] placement place_groups(const std::vector<device_group>& groups);

/// The stages of a group, as a drawing shows them.
struct role {
  std::string group;
  std::string stage;
};

/// Nodes x devices x roles: on each node, who has which devices, and what is free.
[[nodiscard]] std::string draw(const placement& placed, const std::vector<role>& roles = {});

}  // namespace twinkle::place
