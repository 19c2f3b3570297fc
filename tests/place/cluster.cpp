// SPDX-License-Identifier: Apache-2.0
#include "twinkle/place/cluster.hpp"

#include <doctest/doctest.h>

using twinkle::place::cluster;
using twinkle::place::device_seats;
using twinkle::place::problems;
using twinkle::place::seat;
using twinkle::place::title;
using texts = std::vector<std::string>;

TEST_CASE("the devices of nodes of 4 and 2 have the local ranks 0,1,2,3,0,1") {
  const cluster machines{"lab", {{.name = "a", .devices = 4}, {.name = "none"}, {.name = "b", .devices = 2}}};
  CHECK(device_seats(machines) == std::vector<seat>{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {2, 0}, {2, 1}});
}

TEST_CASE("a cluster says in a line what it has, by type") {
  CHECK(title({"lab", {{.name = "a", .devices = 4, .type = "GPU", .cpus = 2},
                       {.name = "b", .devices = 2, .type = "npu"},
                       {.name = "c", .devices = 1}}}) == "3 nodes, 5 cuda, 2 npu, 2 cpu");
  CHECK(title({"", {{.name = "a"}}}) == "1 node, 0 cpu");
}

TEST_CASE("all problems of a cluster are told at once") {
  CHECK(problems(cluster{"lab", {{.name = "a", .host = "", .devices = 1}, {.name = "a", .type = ""}}}) ==
        texts{"node 'a': its host is empty",
              "node 'a': its type is ''; give a device type, such as cuda or npu",
              "two nodes are named 'a'; give each its own name"});
  CHECK(problems(cluster{"lab", {{.name = "a", .devices = 1 << 20}, {.name = "b", .devices = 1}}}) ==
        texts{"the cluster has 1048577 devices; there may be at most 1048576"});
  CHECK(problems(cluster{"lab", {{.name = "a", .devices = 8}}}) == texts{});
}
