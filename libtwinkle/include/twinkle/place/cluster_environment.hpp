// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "twinkle/mesh/device_group.hpp"
#include "twinkle/place/cluster.hpp"

namespace twinkle::place {

/// What a launcher tells each of its processes by environment: how many nodes there are, which of them this one is,
/// and where the leader, node 0, listens.
///
/// |           | a launcher of ranks | SLURM                                                           |
/// |-----------|---------------------|-----------------------------------------------------------------|
/// | this node | RANK                | SLURM_PROCID                                                    |
/// | nodes     | WORLD_SIZE          | SLURM_NTASKS                                                    |
/// | host      | MASTER_ADDR         | the first of SLURM_STEP_NODELIST, or else of SLURM_JOB_NODELIST |
/// | port      | MASTER_PORT         | 20000 + 2 x ((SLURM_JOB_ID + 997 SLURM_STEP_ID) modulo 15000)   |
///
/// So jobs that follow each other, and steps of one job, share neither that port nor the next one. Where RANK or WORLD_SIZE
/// is set, SLURM's are not read for these two; where they differ, a remark says so. A variable that is empty is not set.
struct cluster_environment {
  std::size_t rank = 0;
  std::size_t nodes = 1;
  std::string leader_host = {};
  std::uint16_t leader_port = 0;  ///< for rows; the leader listens on the next one, too
  std::optional<std::size_t> devices = {};  ///< of each node: TWINKLE_DEVICES, which has to be the same on all nodes
  std::optional<std::size_t> cpus = {};     ///< of each node: TWINKLE_CPUS, likewise
  std::vector<std::string> problems = {};   ///< all at once; where there are any, the rest means nothing
  std::vector<std::string> remarks = {};    ///< what is odd, and what was made of it
};

/// Of a variable's name, its value.
using variables = std::function<std::optional<std::string>(const std::string& name)>;

[[nodiscard]] cluster_environment read_environment(const variables& of);

/// The nodes "node0", "node1", … of an environment without problems. Of all but the leader host and port are not
/// known yet: `unknown_host` and 0. Where the environment does not say how many devices or cpus a node has, each has an even
/// share of what the groups ask for, in whole workers and rounded up; place_groups tells whether that will do. A node
/// has one type of device: that of the first group that is not of cpus.
[[nodiscard]] cluster machines_of(const cluster_environment& told, const std::vector<device_group>& groups);

/// The first host of a list as SLURM writes it, in which "a[01-03,7]-ib,b" is a01-ib, a02-ib, a03-ib, a7-ib and b.
/// Nothing, if it is no such list as far as that.
[[nodiscard]] std::optional<std::string> first_host(std::string_view list);

}  // namespace twinkle::place
