// SPDX-License-Identifier: Apache-2.0
#include "twinkle/place/cluster_environment.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <map>

#include "for_all.hpp"
#include "twinkle/place/placement.hpp"

using twinkle::device_group;
using twinkle::place::cluster;
using twinkle::place::cluster_environment;
using twinkle::place::first_host;
using twinkle::place::machines_of;
using twinkle::place::place_groups;
using texts = std::vector<std::string>;
using settings = std::map<std::string, std::string>;

namespace {

cluster_environment read(const settings& set) {
  return twinkle::place::read_environment([&](const std::string& name) {
    const auto found = set.find(name);
    return found == set.end() ? std::nullopt : std::optional(found->second);
  });
}

settings ranks(settings changed = {}) {
  settings set{{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "10.0.0.1"}, {"MASTER_PORT", "7000"}};
  for (auto& [name, value] : changed)
    set[name] = value;
  return set;
}

settings slurm(settings changed = {}) {
  settings set{{"SLURM_PROCID", "2"},
               {"SLURM_NTASKS", "3"},
               {"SLURM_JOB_NODELIST", "gpu[01-03]"},
               {"SLURM_JOB_ID", "40001"}};
  for (auto& [name, value] : changed)
    set[name] = value;
  return set;
}

}  // namespace

TEST_CASE("a launcher of ranks tells rank, size, and where the leader is") {
  const cluster_environment told = read(ranks());
  CHECK(told.problems == texts{});
  CHECK(told.remarks == texts{});
  CHECK(told.rank == 1);
  CHECK(told.nodes == 4);
  CHECK(told.leader_host == "10.0.0.1");
  CHECK(told.leader_port == 7000);
  CHECK_FALSE(told.devices);
  CHECK_FALSE(told.cpus);
}

TEST_CASE("SLURM tells the same, with a port of the job's own") {
  const cluster_environment told = read(slurm());
  CHECK(told.problems == texts{});
  CHECK(told.remarks == texts{});
  CHECK(told.rank == 2);
  CHECK(told.nodes == 3);
  CHECK(told.leader_host == "gpu01");
  CHECK(told.leader_port == 40002);
  CHECK(read(slurm({{"SLURM_JOB_ID", "0"}})).leader_port == 20000);
  CHECK(read(slurm({{"SLURM_JOB_ID", "14999"}})).leader_port == 49998);
  CHECK(read(slurm({{"SLURM_JOB_ID", "15000"}})).leader_port == 20000);
}

TEST_CASE("a step of a SLURM job has a leader of its own") {
  const cluster_environment told = read(slurm({{"SLURM_STEP_NODELIST", "gpu[02-03]"}, {"SLURM_STEP_ID", "1"}}));
  CHECK(told.problems == texts{});
  CHECK(told.leader_host == "gpu02");
  CHECK(told.leader_port == 40002 + 2 * 997);
  CHECK(read(slurm({{"SLURM_STEP_ID", "0"}})).leader_port == 40002);
  CHECK(read(slurm({{"SLURM_STEP_ID", "4294967291"}})).problems == texts{});
  CHECK(read(slurm({{"SLURM_STEP_NODELIST", "a["}})).problems ==
        texts{"SLURM_STEP_NODELIST is 'a[', which does not begin with a host, such as a1 or a[01-03,7]"});
}

TEST_CASE("jobs that follow each other share neither the leader's port nor the next one") {
  for_all([] {
    const auto job = *rc::gen::inRange<std::uint32_t>(0, 4000000000);
    const int port = read(slurm({{"SLURM_JOB_ID", std::to_string(job)}})).leader_port;
    const int after = read(slurm({{"SLURM_JOB_ID", std::to_string(job + 1)}})).leader_port;
    RC_ASSERT(port >= 20000 && port + 1 <= 49999);
    RC_ASSERT(std::abs(port - after) > 1);
  });
}

TEST_CASE("under SLURM the leader's host and port may be given otherwise") {
  const cluster_environment told = read(slurm({{"MASTER_ADDR", "10.1.1.1"},
                                               {"MASTER_PORT", "8000"},
                                               {"SLURM_JOB_NODELIST", "["},
                                               {"SLURM_JOB_ID", "x"}}));
  CHECK(told.problems == texts{});
  CHECK(told.leader_host == "10.1.1.1");
  CHECK(told.leader_port == 8000);
  CHECK(told.rank == 2);
}

TEST_CASE("where SLURM says otherwise, the ranks are taken, and a remark says so") {
  const cluster_environment told = read(ranks({{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "2"}}));
  CHECK(told.problems == texts{});
  CHECK(told.rank == 1);
  CHECK(told.nodes == 4);
  CHECK(told.remarks == texts{"RANK is 1 and SLURM_PROCID is 3; RANK is taken",
                              "WORLD_SIZE is 4 and SLURM_NTASKS is 2; WORLD_SIZE is taken"});
  CHECK(read(ranks({{"SLURM_PROCID", "01"}, {"SLURM_NTASKS", "4"}})).remarks == texts{});
}

TEST_CASE("all that is missing is told at once, and an empty variable is not set") {
  const texts missing{
      "neither RANK nor SLURM_PROCID is set; one of them has to say which node this process is",
      "neither WORLD_SIZE nor SLURM_NTASKS is set; one of them has to say how many nodes there are",
      "neither MASTER_ADDR nor SLURM_JOB_NODELIST is set; one of them has to say on which host node 0 is",
      "neither MASTER_PORT nor SLURM_JOB_ID is set; one of them has to say on which port node 0 listens"};
  CHECK(read({}).problems == missing);
  CHECK(read({{"RANK", ""}, {"MASTER_PORT", ""}, {"TWINKLE_DEVICES", ""}}).problems == missing);
  CHECK(read(ranks({{"WORLD_SIZE", ""}, {"SLURM_NTASKS", "4"}})).problems ==
        texts{"WORLD_SIZE is not set, but RANK is; set both"});
  CHECK(read(slurm({{"WORLD_SIZE", "3"}})).problems == texts{"RANK is not set, but WORLD_SIZE is; set both"});
}

TEST_CASE("values that cannot be are told at once, each with its variable") {
  CHECK(read({{"RANK", "-1"},
              {"WORLD_SIZE", "two"},
              {"MASTER_ADDR", "a"},
              {"MASTER_PORT", "65536"},
              {"TWINKLE_DEVICES", "8 "},
              {"TWINKLE_CPUS", "1048577"}})
            .problems == texts{"RANK is '-1'; it must be a whole number, 0..65535",
                               "WORLD_SIZE is 'two'; it must be a whole number, 1..65536",
                               "MASTER_PORT is '65536'; it must be a whole number, 1..65534",
                               "TWINKLE_DEVICES is '8 '; it must be a whole number, 0..1048576",
                               "TWINKLE_CPUS is '1048577'; it must be a whole number, 0..1048576"});
  CHECK(read(ranks({{"RANK", "4"}})).problems == texts{"RANK is 4, but WORLD_SIZE is 4; ranks are 0..3"});
  CHECK(read(slurm({{"SLURM_PROCID", "3"}})).problems ==
        texts{"SLURM_PROCID is 3, but SLURM_NTASKS is 3; ranks are 0..2"});
  CHECK(read(ranks({{"WORLD_SIZE", "0"}})).problems ==
        texts{"WORLD_SIZE is '0'; it must be a whole number, 1..65536"});
  CHECK(read(ranks({{"MASTER_PORT", "0"}})).problems ==
        texts{"MASTER_PORT is '0'; it must be a whole number, 1..65534"});
  CHECK(read(ranks({{"MASTER_PORT", "65535"}})).problems.size() == 1);
  CHECK(read(slurm({{"SLURM_JOB_NODELIST", "a["}, {"SLURM_JOB_ID", "7.0"}})).problems ==
        texts{"SLURM_JOB_NODELIST is 'a[', which does not begin with a host, such as a1 or a[01-03,7]",
              "SLURM_JOB_ID is '7.0'; it must be a whole number, 0..4294967295"});
}

TEST_CASE("the first host of a SLURM list") {
  CHECK(first_host("a") == "a");
  CHECK(first_host("a,b") == "a");
  CHECK(first_host("a[01-03,7],b") == "a01");
  CHECK(first_host("a[7,01-03],b[1-2]") == "a7");
  CHECK(first_host("rack[2-3]n[008-016]-ib.lab,other") == "rack2n008-ib.lab");
  CHECK(first_host("[10-12]") == "10");
  for (const char* wrong : {"", ",a", "a[1-3", "a[]", "a[,1]", "a[b]", "a]", "a[1[2]]", "a b", "a[-3]"})
    CHECK_MESSAGE(!first_host(wrong), wrong);
}

TEST_CASE("of an environment's nodes, only the leader's address is known") {
  const cluster machines = machines_of(read(ranks({{"TWINKLE_DEVICES", "8"}, {"TWINKLE_CPUS", "32"}})), {});
  REQUIRE(machines.nodes.size() == 4);
  CHECK(machines.nodes[0].name == "node0");
  CHECK(machines.nodes[0].host == "10.0.0.1");
  CHECK(machines.nodes[0].port == 7000);
  CHECK(machines.nodes[3].name == "node3");
  CHECK(machines.nodes[3].host == "?");
  CHECK(machines.nodes[3].port == 0);
  CHECK(title(machines) == "4 nodes, 32 cuda, 128 cpu");
  CHECK(problems(machines) == texts{});
}

TEST_CASE("nodes that say nothing of their devices share evenly what the groups ask for, in whole workers") {
  const std::vector<device_group> groups{{.name = "model", .ranks = 4, .device_type = "npu"},
                                         {.name = "rollout", .ranks = 10, .device_type = "npu", .gpus_per_worker = 2},
                                         {.name = "host", .ranks = 6, .device_type = "cpu"}};
  const cluster machines = machines_of(read(ranks()), groups);
  CHECK(title(machines) == "4 nodes, 16 npu, 8 cpu");
  CHECK(place_groups(groups, machines).problems == texts{});
  CHECK(title(machines_of(read(ranks({{"TWINKLE_DEVICES", "5"}})), groups)) == "4 nodes, 20 npu, 8 cpu");
  CHECK(title(machines_of(read(ranks({{"TWINKLE_CPUS", "0"}})), groups)) == "4 nodes, 16 npu, 0 cpu");
}

TEST_CASE("listed devices are there, however they are shared") {
  const std::vector<device_group> groups{{.name = "model", .ranks = {0, 9}},
                                         {.name = "judge", .ranks = {0, 9}, .colocate = {"model"}}};
  const cluster machines = machines_of(read(ranks()), groups);
  CHECK(title(machines) == "4 nodes, 12 cuda, 0 cpu");
  CHECK(place_groups(groups, machines).problems == texts{});
}

TEST_CASE("counts of one size of worker always fit on nodes that share what they ask for") {
  for_all([] {
    const auto unit = *rc::gen::inRange<std::size_t>(1, 5);
    std::vector<device_group> groups;
    const auto counts = rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 9));
    for (const std::size_t workers : *counts)
      groups.push_back(
          {.name = "g" + std::to_string(groups.size()), .ranks = workers * unit, .gpus_per_worker = unit});
    const auto nodes = *rc::gen::inRange(1, 7);
    const settings set = ranks({{"RANK", "0"}, {"WORLD_SIZE", std::to_string(nodes)}});
    RC_ASSERT(place_groups(groups, machines_of(read(set), groups)).problems.empty());
  });
}
