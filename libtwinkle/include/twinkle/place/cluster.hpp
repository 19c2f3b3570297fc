// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace twinkle::place {

/// The nodes of a run, in order. Device ranks number the devices of all nodes in that order:
///
///     node            a          b
///     device rank   0 1 2 3     4 5
///     local rank    0 1 2 3     0 1
struct cluster {
  struct node {
    std::string name;
    std::string host = "localhost";
    std::uint16_t port = 0;  ///< 0: not said
    std::size_t devices = 0;
    std::string type = "cuda";  ///< of its devices
    std::size_t cpus = 0;
  };

  std::string name = {};
  std::vector<node> nodes = {};
};

/// Where a device, or a cpu, is.
struct seat {
  std::size_t node = 0;
  std::size_t local_rank = 0;

  friend bool operator==(const seat&, const seat&) = default;
};

/// Of each device rank, where it is.
[[nodiscard]] std::vector<seat> device_seats(const cluster& machines);

[[nodiscard]] std::vector<std::string> names(const cluster& machines);
/// The node of that name, if there is one.
[[nodiscard]] std::optional<std::size_t> find(const cluster& machines, std::string_view name);

/// "2 nodes, 16 cuda, 64 cpu"
[[nodiscard]] std::string title(const cluster& machines);

/// Every problem of the node by itself: a name that is not of letters, digits, '-', '_' and '.', devices that are cpus,
/// more than 2^20 devices or cpus.
[[nodiscard]] std::vector<std::string> problems(const cluster::node& node);

/// Every problem of the cluster: those of its nodes, none of them, more than 2^20 devices or cpus in all, a name or an
/// address used twice.
[[nodiscard]] std::vector<std::string> problems(const cluster& machines);

}  // namespace twinkle::place
