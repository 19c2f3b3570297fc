// SPDX-License-Identifier: Apache-2.0
#include "twinkle/place/cluster_file.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "for_all.hpp"

using twinkle::place::cluster_file;
using twinkle::place::parse_cluster;
using texts = std::vector<std::string>;

namespace {

// As a program would show them.
texts problems_of(std::string_view text) {
  texts told;
  for (const cluster_file::problem& each : parse_cluster(text).problems)
    told.push_back(to_string(each, "c.toml"));
  return told;
}

}  // namespace

TEST_CASE("a cluster file names nodes and groups") {
  const cluster_file file = parse_cluster(R"(name = "lab"
[[node]]
name = "a"
host = "10.0.0.1"
port = 7000
devices = 8
type = "npu"
cpus = 32
[[node]]
name = "b"
[[group]]
name = "rollout"
ranks = [4, 5]
type = "npu"
gpus_per_worker = 2
visible_devices = ["0", "1"]
colocate = ["model"]
[[group]]
name = "model"
ranks = 4
)");
  CHECK(file.problems.empty());
  CHECK(file.machines.name == "lab");
  REQUIRE(file.machines.nodes.size() == 2);
  const auto& a = file.machines.nodes[0];
  CHECK(a.name == "a");
  CHECK(a.host == "10.0.0.1");
  CHECK(a.port == 7000);
  CHECK(a.devices == 8);
  CHECK(a.type == "npu");
  CHECK(a.cpus == 32);
  const auto& b = file.machines.nodes[1];
  CHECK(b.host == "localhost");
  CHECK(b.port == 0);
  CHECK(b.devices == 0);
  CHECK(b.type == "cuda");
  REQUIRE(file.groups.size() == 2);
  CHECK(file.groups[0].ranks.devices() == std::vector<std::size_t>{4, 5});
  CHECK(file.groups[0].device_type == "npu");
  CHECK(file.groups[0].gpus_per_worker == 2);
  CHECK(file.groups[0].visible_devices == texts{"0", "1"});
  CHECK(file.groups[0].colocate == texts{"model"});
  CHECK_FALSE(file.groups[1].ranks.is_list());
  CHECK(file.groups[1].ranks.count() == 4);
}

TEST_CASE("all that is wrong with a cluster file is told at once, by line") {
  CHECK(problems_of(R"(nam = "lab"
[[node]]
name = "a"
port = 70000
gpus = 8
[[node]]
name = "a"
devices = -1
cpus = "many"
[[node]]
host = 7
[[group]]
name = "g"
ranks = [0, -1]
colocate = "model"
visible_devices = [0]
[[group]]
name = "g"
ranks = 3
gpus_per_worker = 2
)") == texts{
                  "c.toml:1: cluster: unknown key 'nam'; the keys are name, node, group",
                  "c.toml:4: node 'a': port is 70000; it must be 1..65535",
                  "c.toml:5: node 'a': unknown key 'gpus'; the keys are name, host, port, devices, type, cpus",
                  "c.toml:6: two nodes are named 'a'; give each its own name",
                  "c.toml:8: node 'a': devices is -1; it must be 0 or more",
                  "c.toml:9: node 'a': cpus is of type string; it must be a whole number",
                  "c.toml:10: a node has no name",
                  "c.toml:11: node: host is of type integer; it must be a text in quotes",
                  "c.toml:14: group 'g': an item of ranks is -1; it must be 0 or more",
                  "c.toml:15: group 'g': colocate is of type string; it must be a list, such as [\"0\", \"1\"]",
                  "c.toml:16: group 'g': an item of visible_devices is of type integer; it must be a text in quotes",
                  "c.toml:17: device group 'g': 3 ranks do not make whole workers of 2",
                  "c.toml:17: group 'g': another group has this name; give each its own",
              });
}

TEST_CASE("a file that is no TOML is refused with its line") {
  for (const char* second : {"[[node]", "[.node]", "[[]]", "name = \"again\"", "x = 1 2"}) {
    const texts told = problems_of("name = \"lab\"\n" + std::string(second) + "\n");
    REQUIRE(told.size() == 1);
    CHECK(told[0].starts_with("c.toml:2: "));
  }
  CHECK(problems_of("\xff").size() == 1);
}

TEST_CASE("nodes and groups that are no lists of tables, or not there, are refused") {
  CHECK(problems_of("") == texts{"c.toml:1: the cluster has no nodes; describe at least one"});
  CHECK(problems_of("node = 3\n[group]\nname = \"g\"\n") ==
        texts{"c.toml:1: a node is a table of its own; write [[node]] before each",
              "c.toml:1: the cluster has no nodes; describe at least one",
              "c.toml:2: a group is a table of its own; write [[group]] before each"});
}

TEST_CASE("nodes that cannot be told apart, or hold more than can be, are refused") {
  CHECK(problems_of(R"([[node]]
name = "a b"
type = "cpu"
devices = 2
[[node]]
name = "c"
port = 1
devices = 9000000000000000000
[[node]]
name = "d"
port = 1
)") == texts{
                  "c.toml:1: node 'a b': its name must be of letters, digits, '-', '_' and '.'",
                  "c.toml:1: node 'a b': its 2 devices are of type cpu; say cpus = 2",
                  "c.toml:1: the cluster has 1048578 devices; there may be at most 1048576",
                  "c.toml:5: node 'c': 9000000000000000000 devices; there may be at most 1048576",
                  "c.toml:9: nodes 'c' and 'd' are both at localhost:1; give each its own port",
              });
}

TEST_CASE("whatever the bytes of a cluster file, it is read or refused") {
  for_all([] {
    const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
        "[[node]]", "[[group]]", "[node]", "\n", "name", "=", "\"a\"", "ranks", "[", "]", "1", ",", "-9", "devices", "{",
        "}", ".", "\\", "'", "\"", "\xff", "1e9", "true", "0x", "#"));
    std::string text;
    for (const std::string& each : pieces)
      text += each;
    const cluster_file file = parse_cluster(text);
    RC_ASSERT(!file.machines.nodes.empty() || !file.problems.empty());
  });
}
