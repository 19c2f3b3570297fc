// SPDX-License-Identifier: Apache-2.0
#include "twinkle/place/placement.hpp"

#include <algorithm>
#include <map>

#include "device_pool.hpp"
#include "number_ranges.hpp"
#include "twinkle/base/list.hpp"

namespace twinkle::place {
namespace {

std::string type_of(const device_group& group) { return canonical_device_type(group.device_type); }

bool alike(const device_group& a, const device_group& b) {
  return a.ranks.is_list() == b.ranks.is_list() && a.ranks.count() == b.ranks.count() &&
         a.ranks.devices() == b.ranks.devices() && a.gpus_per_worker == b.gpus_per_worker &&
         a.visible_devices == b.visible_devices && a.colocate == b.colocate && type_of(a) == type_of(b);
}

// A group, and what it gets.
struct claim {
  const device_group* group;
  placed_group got;
  bool good = true;  // it has no problems by itself
};

class placer {
 public:
  placer(const cluster& machines, bool described) {
    made_.machines = machines;
    made_.described = described;
    for (std::size_t at = 0; at < machines.nodes.size(); ++at) {
      const cluster::node& node = machines.nodes[at];
      const std::string type = canonical_device_type(node.type);
      pool_of(type).add(at, type, node.devices);
      pool_of("cpu").add(at, "cpu", node.cpus);
    }
  }

  placement run(const std::vector<device_group>& groups) {
    for (const device_group& group : groups)
      declare(group);
    for (const claim& each : claims_)
      check_colocation(*each.group);
    for (const bool lists : {true, false})
      for (claim& each : claims_)
        if (each.good && each.group->ranks.is_list() == lists)
          put(*each.group, each.got);
    tell_shortages();
    for (claim& each : claims_)
      if (!each.got.devices.empty())
        made_.groups.push_back(std::move(each.got));
    if (!made_.described)
      trim();
    return std::move(made_);
  }

 private:
  void problem(std::string text) { made_.problems.push_back(std::move(text)); }

  // On a cluster all devices are numbered together; a machine that was made up numbers each type by itself.
  device_pool& pool_of(const std::string& type) {
    return pools_[type == "cpu" || !made_.described ? type : std::string("devices")];
  }

  [[nodiscard]] const std::string& node_name(std::size_t node) const { return made_.machines.nodes[node].name; }

  [[nodiscard]] const device_group* find(const std::string& name) const {
    const auto known = std::find_if(claims_.begin(), claims_.end(),
                                    [&](const claim& each) { return each.group->name == name; });
    return known == claims_.end() ? nullptr : known->group;
  }

  void declare(const device_group& group) {
    if (const device_group* known = find(group.name)) {
      if (!alike(*known, group))
        problem("two device groups are named '" + group.name + "' and differ");
      return;
    }
    const std::vector<std::string> wrong = problems(group);
    made_.problems.insert(made_.problems.end(), wrong.begin(), wrong.end());
    claims_.push_back({&group, {group.name, type_of(group), {}, {}, group.gpus_per_worker}, wrong.empty()});
  }

  void check_colocation(const device_group& group) {
    for (const std::string& name : group.colocate) {
      const device_group* with = find(name);
      if (with == nullptr)
        problem("device group '" + group.name + "' is to be colocated with '" + name + "', but there is no such group");
      else if (type_of(*with) != type_of(group))
        problem("device group '" + group.name + "' (" + type_of(group) + ") is to be colocated with '" + name + "' (" +
                type_of(*with) + "); they can share nothing");
    }
  }

  void put(const device_group& group, placed_group& into) {
    device_pool& pool = pool_of(into.device_type);
    if (group.ranks.is_list()) {
      if (!all_there(group, pool))
        return;
      into.devices = group.ranks.devices();
      check_workers(group, pool);
      check_sharing(group, pool);
    } else {
      into.devices = pool.first_free(group, into.device_type);
    }
    for (const std::size_t device : into.devices) {
      pool.take(device, group);
      into.seats.push_back(pool.seat_of(device));
    }
    set_visible(group, into);
  }

  // Every listed device is in the cluster, and of the group's type.
  bool all_there(const device_group& group, const device_pool& pool) {
    std::vector<std::size_t> outside;
    std::map<const device_pool::span*, std::vector<std::size_t>> others;
    for (const std::size_t device : group.ranks.devices())
      if (const device_pool::span* on = pool.find(device); on == nullptr)
        outside.push_back(device);
      else if (on->type != type_of(group))
        others[on].push_back(device);
    const std::string who = "device group '" + group.name + "'";
    if (!outside.empty())
      problem(who + ": devices " + list_of_numbers(outside) + " are not in the cluster, which has " +
              (pool.size() == 0 ? "none" : number_range(0, pool.size() - 1)));
    for (const auto& [on, devices] : others)
      problem(who + " is " + type_of(group) + ", but devices " + list_of_numbers(devices) + " on node '" +
              node_name(on->node) + "' are " + on->type);
    return outside.empty() && others.empty();
  }

  void check_workers(const device_group& group, const device_pool& pool) {
    const std::vector<std::size_t>& devices = group.ranks.devices();
    for (std::size_t first = 0; first < devices.size(); first += group.gpus_per_worker) {
      std::vector<std::size_t> of_worker;
      std::vector<std::string> nodes;
      for (std::size_t rank = first; rank < first + group.gpus_per_worker; ++rank) {
        of_worker.push_back(devices[rank]);
        const std::size_t node = pool.seat_of(devices[rank]).node;
        const std::string shown = std::to_string(node) + " (" + node_name(node) + ")";
        if (std::find(nodes.begin(), nodes.end(), shown) == nodes.end())
          nodes.push_back(shown);
      }
      if (nodes.size() > 1)
        problem("device group '" + group.name + "': the worker of ranks " +
                number_range(first, first + group.gpus_per_worker - 1) + " has devices " + list_of_numbers(of_worker) +
                " on nodes " + list(nodes) + "; a worker's devices have to be on one node");
    }
  }

  void check_sharing(const device_group& group, const device_pool& pool) {
    std::map<std::string, std::vector<std::size_t>> shared;
    for (const std::size_t device : group.ranks.devices())
      for (const std::string& rival : pool.rivals(device, group))
        shared[rival].push_back(device);
    for (const auto& [rival, devices] : shared) {
      std::vector<std::string> nodes;
      for (const std::size_t device : devices)
        if (const std::string& name = node_name(pool.seat_of(device).node); nodes.empty() || nodes.back() != name)
          nodes.push_back(name);
      problem("device groups '" + rival + "' and '" + group.name + "' share " + type_of(group) + " devices " +
              list_of_numbers(devices) + (made_.described ? " on " + list(nodes) : "") +
              "; give them different devices, or name one in the other's colocate");
    }
  }

  void set_visible(const device_group& group, placed_group& into) {
    if (group.visible_devices.empty())
      return;
    std::map<std::size_t, std::size_t> on_node;
    for (const seat& each : into.seats) {
      const std::size_t index = on_node[each.node]++;
      into.visible_devices.push_back(index < group.visible_devices.size() ? group.visible_devices[index] : "");
    }
    for (const auto& [node, ranks] : on_node)
      if (ranks > group.visible_devices.size())
        problem("device group '" + group.name + "' has " + std::to_string(ranks) + " ranks" +
                (made_.described ? " on node '" + node_name(node) + "'" : "") + ", but only " +
                std::to_string(group.visible_devices.size()) + " visible devices");
  }

  void tell_shortages() {
    struct shortage {
      std::size_t asked = 0;
      std::size_t missing = 0;
      std::vector<std::string> groups = {};
    };
    std::map<std::string, shortage> by_type;
    for (const auto& [group, got, good] : claims_) {
      if (!good)
        continue;
      shortage& of = by_type[got.device_type];
      const auto asked = static_cast<std::size_t>(group->ranks.count());
      of.asked += asked;
      if (group->ranks.is_list() || got.devices.size() == asked)
        continue;
      of.missing += asked - got.devices.size();
      of.groups.push_back("'" + got.name + "' asks for " + std::to_string(asked) +
                          (got.gpus_per_worker > 1 ? " in workers of " + std::to_string(got.gpus_per_worker) : "") +
                          " and gets " + std::to_string(got.devices.size()));
    }
    for (const auto& [type, of] : by_type)
      if (of.missing > 0)
        problem("short " + std::to_string(of.missing) + " " + type + ": the groups ask for " +
                std::to_string(of.asked) + ", the cluster has " + std::to_string(pool_of(type).size(type)) + "; " +
                list(of.groups) + free_of(type));
  }

  // What is free but of no use, since it is in no whole run on one node.
  std::string free_of(const std::string& type) {
    std::vector<std::string> parts;
    const device_pool& pool = pool_of(type);
    for (const device_pool::span& each : pool.spans()) {
      std::vector<std::size_t> numbers = pool.free(each);
      if (each.type != type || numbers.empty())
        continue;
      for (std::size_t& number : numbers)
        number -= each.numbers.first;
      parts.push_back(number_ranges(numbers) + " of " + node_name(each.node));
    }
    return parts.empty() ? "" : "; free, but in no whole run on one node: " + list(parts);
  }

  // A machine that was made up has what is used.
  void trim() {
    for (cluster::node& node : made_.machines.nodes) {
      node.devices = pool_of(node.type).used();
      node.cpus = std::min(node.cpus, pool_of("cpu").used());
    }
  }

  placement made_;
  std::vector<claim> claims_;  // in the order of declaration
  std::map<std::string, device_pool> pools_;
};

// One node for each type of device, large enough whatever lists leave free.
cluster machine_for(const std::vector<device_group>& groups) {
  cluster made{"this machine", {}};
  const auto node_for = [&](const std::string& type) -> cluster::node& {
    for (cluster::node& node : made.nodes)
      if (node.type == type)
        return node;
    return made.nodes.emplace_back(cluster::node{.name = "local", .type = type});
  };
  std::size_t cpus = 0;
  for (const bool lists : {true, false})
    for (const device_group& group : groups) {
      if (group.ranks.is_list() != lists || !problems(group).empty())
        continue;
      const std::string type = type_of(group);
      const auto count = static_cast<std::size_t>(group.ranks.count());
      if (type == "cpu")
        cpus += count;
      else if (lists)
        for (const std::size_t device : group.ranks.devices())
          node_for(type).devices = std::max(node_for(type).devices, device + 1);
      else
        node_for(type).devices += count;
    }
  if (cpus > 0)
    (made.nodes.empty() ? node_for("cuda") : made.nodes.front()).cpus = cpus;
  return made;
}

}  // namespace

placement place_groups(const std::vector<device_group>& groups, const cluster& machines) {
  if (std::vector<std::string> wrong = problems(machines); !wrong.empty())
    return {std::move(wrong), machines, true};
  return placer{machines, true}.run(groups);
}

placement place_groups(const std::vector<device_group>& groups) {
  return placer{machine_for(groups), false}.run(groups);
}

}  // namespace twinkle::place
