// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "twinkle/mesh/device_group.hpp"
#include "twinkle/place/cluster.hpp"

namespace twinkle::place {

/// What a cluster file says, in TOML. All keys but the names may be left out.
///
///     name = "lab"
///
///     [[node]]
///     name = "a"
///     host = "10.0.0.1"    # localhost
///     port = 7000
///     devices = 8          # 0
///     type = "cuda"        # of the devices: cuda
///     cpus = 32            # 0
///
///     [[group]]
///     name = "rollout"
///     ranks = 4            # a count, or a list such as [0, 1]: 1
///     type = "cuda"
///     gpus_per_worker = 2  # 1
///     visible_devices = ["0", "1"]
///     colocate = ["model"]
struct cluster_file {
  struct problem {
    std::size_t line = 0;
    std::string text;

    friend bool operator==(const problem&, const problem&) = default;
  };

  cluster machines = {};
  std::vector<device_group> groups = {};
  std::vector<problem> problems = {};  ///< by line
};

/// Reads the text of a cluster file. What is wrong with it is in its problems, all at once, but that a mistake in the
/// TOML itself is the only one told.
[[nodiscard]] cluster_file parse_cluster(std::string_view text);

/// "cluster.toml:7: node 'a': devices is -1; …"
[[nodiscard]] std::string to_string(const cluster_file::problem& what, std::string_view path);

}  // namespace twinkle::place
