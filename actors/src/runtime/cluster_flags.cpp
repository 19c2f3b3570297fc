// SPDX-License-Identifier: Apache-2.0
#include "cluster_flags.hpp"

#include <vector>

#include "real_environment.hpp"
#include "real_files.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/base/list.hpp"
#include "twinkle/place/cluster_environment.hpp"
#include "twinkle/place/cluster_file.hpp"

namespace twinkle::runtime {
namespace {

duration seconds(double of) { return duration(static_cast<duration::rep>(of * 1e9)); }

place::cluster read_file(const std::string& path) {
  const std::optional<std::string> text = real_files{}.read(path);
  if (!text)
    throw error("there is no cluster file '" + path + "'");
  place::cluster_file read = place::parse_cluster(*text);
  if (read.machines.name.empty())
    read.machines.name = "cluster";
  if (read.problems.empty())
    return read.machines;
  std::string all = "the cluster file cannot be used:";
  for (const place::cluster_file::problem& each : read.problems)
    all += "\n  - " + to_string(each, path);
  throw error(all);
}

const std::string from_environment = "env";

place::cluster_environment read_environment() {
  place::cluster_environment told = place::read_environment(environment);
  if (told.problems.empty())
    return told;
  std::string all = "the environment does not tell of a cluster:";
  for (const std::string& each : told.problems)
    all += "\n  - " + each;
  throw error(all);
}

}  // namespace

place::cluster machines_of(const graph& pipeline, const run_flags& given) {
  if (given.cluster != from_environment)
    return read_file(given.cluster);
  std::vector<device_group> groups;
  for (const blueprint::stage& each : pipeline.plan().stages)
    groups.push_back(each.group);
  place::cluster machines = place::machines_of(read_environment(), groups);
  machines.name = "env";
  return machines;
}

std::vector<std::string> remarks_of(const run_flags& given) {
  return given.cluster == from_environment ? read_environment().remarks : std::vector<std::string>{};
}

node_options node_options_of(const graph& pipeline, const run_flags& given) {
  node_options how;
  how.machines = machines_of(pipeline, given);
  how.node = given.node;
  if (how.node.empty() && given.cluster == from_environment)
    how.node = how.machines.nodes[read_environment().rank].name;
  if (how.node.empty())
    throw error("which node is this? say --node, one of " + list(names(how.machines)));
  how.seed = pipeline.seed();
  if (!given.authority.empty())
    how.certificates = {given.authority, given.certificate, given.key};
  how.open_without_certificates = given.insecure;
  how.join_within = seconds(given.join_within_s);
  how.silence = seconds(given.silence_s);
  return how;
}

}  // namespace twinkle::runtime
