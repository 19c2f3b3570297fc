// SPDX-License-Identifier: Apache-2.0
#include "twinkle/place/placement.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "for_all.hpp"

using twinkle::device_group;
using twinkle::place::cluster;
using twinkle::place::place_groups;
using twinkle::place::placed_group;
using twinkle::place::placement;
using twinkle::place::seat;
using devices = std::vector<std::size_t>;
using seats = std::vector<seat>;
using texts = std::vector<std::string>;

namespace {

// Nodes a, b, … with so many devices, and as many cpus as are said.
cluster nodes_of(const devices& counts, std::size_t cpus = 0) {
  cluster made{"lab", {}};
  for (std::size_t at = 0; at < counts.size(); ++at)
    made.nodes.push_back({.name = std::string(1, static_cast<char>('a' + at)), .devices = counts[at], .cpus = cpus});
  return made;
}

placed_group group(const placement& from, const std::string& name) {
  for (const placed_group& each : from.groups)
    if (each.name == name)
      return each;
  return {};
}

}  // namespace

TEST_CASE("case K-P1: a worker whose devices lie on two nodes is refused with its devices and the nodes") {
  const auto found = place_groups({{.name = "A", .ranks = {7, 8}, .gpus_per_worker = 2}}, nodes_of({8, 8}));
  CHECK(found.problems == texts{"device group 'A': the worker of ranks 0-1 has devices 7,8 on nodes 0 (a), 1 (b); a "
                                "worker's devices have to be on one node"});
}

TEST_CASE("case K-P1: a list may straddle nodes where no worker does") {
  const auto found = place_groups({{.name = "A", .ranks = {6, 7, 8, 9}, .gpus_per_worker = 2}}, nodes_of({8, 8}));
  CHECK(found.problems == texts{});
  CHECK(group(found, "A").seats == seats{{0, 6}, {0, 7}, {1, 0}, {1, 1}});
  CHECK(group(found, "A").workers() == 2);
}

TEST_CASE("case K-P1: ranks that make no whole workers are refused on a cluster too") {
  CHECK(place_groups({{.name = "A", .ranks = 10, .gpus_per_worker = 4}}, nodes_of({16})).problems ==
        texts{"device group 'A': 10 ranks do not make whole workers of 4"});
}

TEST_CASE("case K-P2: groups that share devices are refused with the devices, the groups and the node") {
  const auto found =
      place_groups({{.name = "A", .ranks = {0, 1, 2, 3}}, {.name = "B", .ranks = {2, 3}}}, nodes_of({8}));
  CHECK(found.problems == texts{"device groups 'A' and 'B' share cuda devices 2,3 on a; give them different devices, or "
                                "name one in the other's colocate"});
}

TEST_CASE("case K-P2: a list of 4 to 7 leaves 0 to 3 of a node to a count of 4") {
  const auto found = place_groups({{.name = "B", .ranks = 4}, {.name = "A", .ranks = {4, 5, 6, 7}}}, nodes_of({8}));
  CHECK(found.problems == texts{});
  CHECK(group(found, "B").devices == devices{0, 1, 2, 3});
}

TEST_CASE("case K-P3: workers of 4 go where 4 devices of a node are free") {
  const auto found = place_groups(
      {{.name = "model", .ranks = 4}, {.name = "rollout", .ranks = 12, .gpus_per_worker = 4}}, nodes_of({8, 8}));
  CHECK(found.problems == texts{});
  CHECK(group(found, "rollout").seats == seats{{0, 4}, {0, 5}, {0, 6}, {0, 7}, {1, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 4},
                                               {1, 5}, {1, 6}, {1, 7}});
}

TEST_CASE("case K-P3: a count of workers never straddles nodes, and leaves what makes no run") {
  const auto found = place_groups({{.name = "one", .ranks = 1}, {.name = "pairs", .ranks = 4, .gpus_per_worker = 2}},
                                  nodes_of({4, 4}));
  CHECK(found.problems == texts{});
  CHECK(group(found, "pairs").devices == devices{1, 2, 4, 5});
}

TEST_CASE("case K-P4: what is short is told at once, in all") {
  const auto found = place_groups({{.name = "model", .ranks = 6},
                                   {.name = "judge", .ranks = 40, .device_type = "cpu"},
                                   {.name = "host", .ranks = 20, .device_type = "CPU"}},
                                  nodes_of({8}, 32));
  CHECK(found.problems == texts{"short 28 cpu: the groups ask for 60, the cluster has 32; 'judge' asks for 40 and gets "
                                "32, 'host' asks for 20 and gets 0"});
}

TEST_CASE("case K-P4: devices and cpus that are short are told together, each type by itself") {
  cluster machines = nodes_of({2, 2}, 1);
  machines.nodes[1].type = "npu";
  CHECK(place_groups({{.name = "a", .ranks = 3},
                      {.name = "b", .ranks = 2, .device_type = "npu"},
                      {.name = "c", .ranks = 3, .device_type = "cpu"}},
                     machines)
            .problems == texts{"short 1 cpu: the groups ask for 3, the cluster has 2; 'c' asks for 3 and gets 2",
                               "short 1 cuda: the groups ask for 3, the cluster has 2; 'a' asks for 3 and gets 2"});
}

TEST_CASE("devices that are free but in no whole run are told with what is short") {
  CHECK(place_groups({{.name = "A", .ranks = 8, .gpus_per_worker = 4}}, nodes_of({6, 3})).problems ==
        texts{"short 4 cuda: the groups ask for 8, the cluster has 9; 'A' asks for 8 in workers of 4 and gets 4; free, "
              "but in no whole run on one node: 4-5 of a, 0-2 of b"});
}

TEST_CASE("nodes of 4 and 2 give the local ranks 0,1,2,3,0,1") {
  const auto found = place_groups({{.name = "A", .ranks = 6}}, nodes_of({4, 2}));
  CHECK(group(found, "A").devices == devices{0, 1, 2, 3, 4, 5});
  CHECK(group(found, "A").seats == seats{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}});
}

TEST_CASE("device ranks number the devices of all nodes, and a group has those of its type") {
  cluster machines = nodes_of({2, 2, 2});
  machines.nodes[1].type = "NPU";
  const auto found =
      place_groups({{.name = "n", .ranks = 2, .device_type = "npu"}, {.name = "c", .ranks = 3}}, machines);
  CHECK(found.problems == texts{});
  CHECK(group(found, "n").devices == devices{2, 3});
  CHECK(group(found, "c").devices == devices{0, 1, 4});
}

TEST_CASE("listed devices that are of another type, or not there, are refused by number and node") {
  cluster machines = nodes_of({2, 2});
  machines.nodes[1].type = "npu";
  CHECK(place_groups({{.name = "A", .ranks = {1, 2, 3, 4, 9}}}, machines).problems ==
        texts{"device group 'A': devices 4,9 are not in the cluster, which has 0-3",
              "device group 'A' is cuda, but devices 2,3 on node 'b' are npu"});
  CHECK(place_groups({{.name = "A", .ranks = {0}}}, nodes_of({0})).problems ==
        texts{"device group 'A': devices 0 are not in the cluster, which has none"});
}

TEST_CASE("cpu groups take cpus of the nodes, in order") {
  const auto found = place_groups({{.name = "host", .ranks = 1, .device_type = "cpu"},
                                   {.name = "judge", .ranks = 4, .device_type = "cpu", .gpus_per_worker = 2}},
                                  nodes_of({1, 1, 1}, 2));
  CHECK(found.problems == texts{});
  CHECK(group(found, "host").seats == seats{{0, 0}});
  CHECK(group(found, "judge").seats == seats{{1, 0}, {1, 1}, {2, 0}, {2, 1}});
}

TEST_CASE("the i-th rank on a node has the i-th visible device, and starts again on the next node") {
  const texts three{"GPU-x", "GPU-y", "GPU-z"};
  const auto found = place_groups({{.name = "A", .ranks = {3, 2, 4, 5}, .visible_devices = three}}, nodes_of({4, 2}));
  CHECK(found.problems == texts{});
  CHECK(group(found, "A").visible_devices == texts{"GPU-x", "GPU-y", "GPU-x", "GPU-y"});
  CHECK(place_groups({{.name = "A", .ranks = 6, .visible_devices = three}}, nodes_of({4, 2})).problems ==
        texts{"device group 'A' has 4 ranks on node 'a', but only 3 visible devices"});
}

TEST_CASE("groups share devices where either asks for it, and only with those that it names") {
  for (const bool either : {true, false}) {
    device_group model{.name = "model", .ranks = 4};
    device_group rollout{.name = "rollout", .ranks = 4};
    (either ? model.colocate : rollout.colocate) = {either ? "rollout" : "model"};
    const auto found = place_groups({model, rollout, {.name = "other", .ranks = 2}}, nodes_of({8}));
    CHECK(found.problems == texts{});
    CHECK(group(found, "rollout").devices == devices{0, 1, 2, 3});
    CHECK(group(found, "other").devices == devices{4, 5});
  }
  CHECK(place_groups({{.name = "A", .ranks = {0, 1}},
                      {.name = "B", .ranks = {0, 1}, .colocate = {"A"}},
                      {.name = "C", .ranks = {1}, .colocate = {"A"}}},
                     nodes_of({2}))
            .problems == texts{"device groups 'B' and 'C' share cuda devices 1 on a; give them different devices, or "
                               "name one in the other's colocate"});
}

TEST_CASE("colocation with a group that there is not, or that has no such devices, is refused") {
  CHECK(place_groups({{.name = "A", .ranks = 1, .colocate = {"X"}},
                      {.name = "B", .ranks = 1, .device_type = "cpu", .colocate = {"A"}},
                      {.name = "C", .ranks = 1, .colocate = {"C"}}})
            .problems ==
        texts{"device group 'C': it is to be colocated with itself; name another group",
              "device group 'A' is to be colocated with 'X', but there is no such group",
              "device group 'B' (cpu) is to be colocated with 'A' (cuda); they can share nothing"});
}

TEST_CASE("a cluster or a group that is wrong by itself places nothing, and says all of it") {
  CHECK(place_groups({{.name = "A", .ranks = 1}}, cluster{}).problems ==
        texts{"the cluster has no nodes; describe at least one"});
  CHECK(place_groups({{.name = "A", .ranks = -1}, {.name = "B", .ranks = 2, .gpus_per_worker = 0}}).problems ==
        texts{"device group 'A': -1 ranks; it must have 1 or more",
              "device group 'B': gpus_per_worker is 0; it must be 1 or more"});
}

TEST_CASE("without a cluster the one machine has what the groups ask for, and no more") {
  const auto found = place_groups({{.name = "fixed", .ranks = {1, 5}},
                                   {.name = "pairs", .ranks = 6, .gpus_per_worker = 2},
                                   {.name = "n", .ranks = 3, .device_type = "npu"},
                                   {.name = "host", .ranks = 2, .device_type = "cpu"}});
  CHECK(found.problems == texts{});
  CHECK_FALSE(found.described);
  CHECK(group(found, "pairs").devices == devices{2, 3, 6, 7, 8, 9});
  REQUIRE(found.machines.nodes.size() == 2);
  CHECK(found.machines.nodes[0].name == "local");
  CHECK(found.machines.nodes[0].devices == 10);
  CHECK(found.machines.nodes[0].cpus == 2);
  CHECK(found.machines.nodes[1].type == "npu");
  CHECK(found.machines.nodes[1].devices == 3);
}

TEST_CASE("a placement draws its nodes, their devices and who has them") {
  cluster machines = nodes_of({8, 4}, 4);
  machines.nodes[0].port = 7000;
  const auto found = place_groups({{.name = "host", .ranks = 1, .device_type = "cpu"},
                                   {.name = "model", .ranks = {1, 0, 2, 3}},
                                   {.name = "rollout", .ranks = 8, .gpus_per_worker = 2, .colocate = {"late"}},
                                   {.name = "late", .ranks = {10}}},
                                  machines);
  REQUIRE(found.problems == texts{});
  CHECK(twinkle::place::draw(found, {{"model", "policy"}, {"rollout", "sampler"}, {"rollout", "tester"}}) ==
        "devices     cluster 'lab': 2 nodes, 12 cuda, 8 cpu\n"
        "  a  localhost:7000  device ranks 0-7\n"
        "    cuda 0    model rank 1 <- policy\n"
        "    cuda 1    model rank 0 <- policy\n"
        "    cuda 2-3  model ranks 2-3 <- policy\n"
        "    cuda 4-7  rollout ranks 0-3 <- sampler, tester\n"
        "    cpu 0     host rank 0\n"
        "    cpu 1-3   free\n"
        "  b  localhost  device ranks 8-11\n"
        "    cuda 0-1  rollout ranks 4-5 <- sampler, tester\n"
        "    cuda 2    rollout rank 6 <- sampler, tester; late rank 0\n"
        "    cuda 3    rollout rank 7 <- sampler, tester\n"
        "    cpu 0-3   free\n");
}

TEST_CASE("what is placed is on the cluster, on one node a worker, and nobody else's") {
  for_all([] {
    const auto counts = *rc::gen::container<devices>(3, rc::gen::inRange<std::size_t>(0, 9));
    std::vector<device_group> groups;
    const auto several = *rc::gen::inRange(1, 5);
    for (int at = 0; at < several; ++at) {
      const auto each = *rc::gen::inRange<std::size_t>(1, 4);
      const auto workers = *rc::gen::inRange<std::size_t>(1, 4);
      const std::string name(1, static_cast<char>('A' + at));
      groups.push_back({.name = name, .ranks = each * workers, .gpus_per_worker = each});
    }
    const cluster machines = nodes_of(counts);
    const auto where = device_seats(machines);
    const placement found = place_groups(groups, machines);
    std::set<std::size_t> taken;
    std::size_t asked = 0;
    for (const device_group& each : groups)
      asked += static_cast<std::size_t>(each.ranks.count());
    for (const placed_group& each : found.groups)
      for (std::size_t rank = 0; rank < each.devices.size(); ++rank) {
        RC_ASSERT(taken.insert(each.devices[rank]).second);
        RC_ASSERT(each.seats[rank] == where.at(each.devices[rank]));
        RC_ASSERT(each.seats[rank].node == each.seats[rank - rank % each.gpus_per_worker].node);
      }
    RC_ASSERT((taken.size() == asked) == found.problems.empty());
    if (!found.problems.empty())
      RC_ASSERT(found.problems.front().starts_with("short " + std::to_string(asked - taken.size()) + " cuda: "));
  });
}
