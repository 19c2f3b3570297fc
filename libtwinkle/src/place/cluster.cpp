// SPDX-License-Identifier: Apache-2.0
#include "twinkle/place/cluster.hpp"

#include <algorithm>
#include <map>

#include "node_problems.hpp"
#include "twinkle/mesh/device_group.hpp"

namespace twinkle::place {
namespace {

constexpr std::size_t devices_max = std::size_t{1} << 20;

bool is_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

std::string too_many(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + "; there may be at most " + std::to_string(devices_max);
}

}  // namespace

std::vector<seat> device_seats(const cluster& machines) {
  std::vector<seat> seats;
  for (std::size_t node = 0; node < machines.nodes.size(); ++node)
    for (std::size_t local = 0; local < machines.nodes[node].devices; ++local)
      seats.push_back({node, local});
  return seats;
}

std::vector<std::string> names(const cluster& machines) {
  std::vector<std::string> all;
  for (const cluster::node& each : machines.nodes)
    all.push_back(each.name);
  return all;
}

std::optional<std::size_t> find(const cluster& machines, std::string_view name) {
  for (std::size_t node = 0; node < machines.nodes.size(); ++node)
    if (machines.nodes[node].name == name)
      return node;
  return std::nullopt;
}

std::string title(const cluster& machines) {
  std::vector<std::string> types;  // in the order of nodes
  std::map<std::string, std::size_t> devices;
  std::size_t cpus = 0;
  for (const cluster::node& node : machines.nodes) {
    const std::string type = canonical_device_type(node.type);
    if (node.devices > 0 && devices[type] == 0)
      types.push_back(type);
    devices[type] += node.devices;
    cpus += node.cpus;
  }
  std::string text = std::to_string(machines.nodes.size()) + (machines.nodes.size() == 1 ? " node" : " nodes");
  for (const std::string& type : types)
    text += ", " + std::to_string(devices[type]) + " " + type;
  return text + ", " + std::to_string(cpus) + " cpu";
}

std::vector<std::string> problems(const cluster::node& node) {
  std::vector<std::string> found;
  const std::string who = "node '" + node.name + "': ";
  if (node.name.empty())
    found.emplace_back("a node has no name");
  else if (!is_name(node.name))
    found.push_back(who + "its name must be of letters, digits, '-', '_' and '.'");
  if (node.host.empty())
    found.push_back(who + "its host is empty");
  if (!is_name(node.type))
    found.push_back(who + "its type is '" + node.type + "'; give a device type, such as cuda or npu");
  else if (canonical_device_type(node.type) == "cpu" && node.devices > 0)
    found.push_back(who + "its " + std::to_string(node.devices) + " devices are of type cpu; say cpus = " +
                    std::to_string(node.devices));
  if (node.devices > devices_max)
    found.push_back(who + too_many(node.devices, "devices"));
  if (node.cpus > devices_max)
    found.push_back(who + too_many(node.cpus, "cpus"));
  return found;
}

std::vector<node_problem> node_problems(const cluster& machines) {
  std::vector<node_problem> found;
  std::map<std::string, std::size_t> names;
  std::map<std::string, std::string> addresses;
  std::size_t devices = 0;
  std::size_t cpus = 0;
  for (std::size_t at = 0; at < machines.nodes.size(); ++at) {
    const cluster::node& node = machines.nodes[at];
    for (std::string& text : problems(node))
      found.push_back({at, std::move(text)});
    if (++names[node.name] > 1 && !node.name.empty())
      found.push_back({at, "two nodes are named '" + node.name + "'; give each its own name"});
    const std::string address = node.host + ":" + std::to_string(node.port);
    if (const auto [known, fresh] = addresses.emplace(address, node.name); !fresh && node.port != 0)
      found.push_back({at, "nodes '" + known->second + "' and '" + node.name + "' are both at " + address +
                               "; give each its own port"});
    devices += std::min(node.devices, devices_max);  // more is told of the node
    cpus += std::min(node.cpus, devices_max);
  }
  if (machines.nodes.empty())
    found.push_back({std::nullopt, "the cluster has no nodes; describe at least one"});
  if (machines.nodes.size() > 1 && devices > devices_max)
    found.push_back({std::nullopt, "the cluster has " + too_many(devices, "devices")});
  if (machines.nodes.size() > 1 && cpus > devices_max)
    found.push_back({std::nullopt, "the cluster has " + too_many(cpus, "cpus")});
  return found;
}

std::vector<std::string> problems(const cluster& machines) {
  std::vector<std::string> found;
  for (node_problem& each : node_problems(machines))
    found.push_back(std::move(each.text));
  return found;
}

}  // namespace twinkle::place
