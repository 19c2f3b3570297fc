// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "number_ranges.hpp"
#include "twinkle/base/list.hpp"
#include "twinkle/place/placement.hpp"

namespace twinkle::place {
namespace {

// Who has a device: the groups, by ordinal, and its rank in each.
using holders = std::vector<std::pair<std::size_t, std::size_t>>;

struct line {
  std::string devices;
  std::string who;
};

std::string stages_of(const std::string& group, const std::vector<role>& roles) {
  std::vector<std::string> stages;
  for (const role& each : roles)
    if (each.group == group)
      stages.push_back(each.stage);
  return stages.empty() ? "" : "<- " + list(stages);
}

// The devices behind `first` that the same groups have, rank after rank, are one line with it.
bool goes_on(const holders& first, const holders& other, std::size_t by) {
  return std::equal(first.begin(), first.end(), other.begin(), other.end(), [&](const auto& a, const auto& b) {
    return a.first == b.first && a.second + by == b.second;
  });
}

class drawer {
 public:
  drawer(const placement& placed, const std::vector<role>& roles) : placed_(placed), roles_(roles) {
    for (std::size_t at = 0; at < placed.groups.size(); ++at) {
      const placed_group& group = placed.groups[at];
      for (std::size_t rank = 0; rank < group.seats.size(); ++rank) {
        auto& nodes = group.device_type == "cpu" ? cpus_ : devices_;
        nodes[group.seats[rank].node][group.seats[rank].local_rank].emplace_back(at, rank);
      }
    }
  }

  std::string run() {
    const cluster& machines = placed_.machines;
    std::string text = "devices     cluster" + (machines.name.empty() ? "" : " '" + machines.name + "'") + ": " +
                       title(machines) + "\n";
    std::size_t first = 0;
    for (std::size_t at = 0; at < machines.nodes.size(); ++at) {
      const cluster::node& node = machines.nodes[at];
      text += "  " + node.name + "  " + node.host + (node.port == 0 ? "" : ":" + std::to_string(node.port));
      if (node.devices > 0)
        text += "  device ranks " + number_range(first, first + node.devices - 1);
      first += node.devices;
      std::vector<line> lines;
      add(node.type, node.devices, devices_[at], lines);
      add("cpu", node.cpus, cpus_[at], lines);
      text += "\n" + aligned(lines);
    }
    return text;
  }

 private:
  void add(const std::string& type, std::size_t count, const std::map<std::size_t, holders>& held,
           std::vector<line>& lines) const {
    for (std::size_t first = 0; first < count;) {
      const auto here = held.lower_bound(first);
      const bool free = here == held.end() || here->first > first;
      std::size_t end = free ? (here == held.end() ? count : here->first) : first + 1;
      if (!free)
        for (auto next = std::next(here); next != held.end() && next->first == end; ++next, ++end)
          if (!goes_on(here->second, next->second, end - first))
            break;
      lines.push_back({type + " " + number_range(first, end - 1),
                       free ? std::string("free") : names(here->second, end - first)});
      first = end;
    }
  }

  [[nodiscard]] std::string names(const holders& who, std::size_t count) const {
    std::vector<std::string> parts;
    for (const auto& [group, rank] : who) {
      const std::string& name = placed_.groups[group].name;
      parts.push_back(name + (count == 1 ? " rank " : " ranks ") + number_range(rank, rank + count - 1));
      if (const std::string stages = stages_of(name, roles_); !stages.empty())
        parts.back() += " " + stages;
    }
    return list(parts, "; ");
  }

  [[nodiscard]] static std::string aligned(const std::vector<line>& lines) {
    std::size_t width = 0;
    for (const line& each : lines)
      width = std::max(width, each.devices.size());
    std::string text;
    for (const line& each : lines)
      text += "    " + each.devices + std::string(width - each.devices.size() + 2, ' ') + each.who + "\n";
    return text;
  }

  const placement& placed_;
  const std::vector<role>& roles_;
  std::map<std::size_t, std::map<std::size_t, holders>> devices_;  // by node and local rank
  std::map<std::size_t, std::map<std::size_t, holders>> cpus_;
};

}  // namespace

std::string draw(const placement& placed, const std::vector<role>& roles) {
  if (placed.described)
    return drawer{placed, roles}.run();
  std::string text = "devices     (no cluster file: this machine is taken to have them)\n";
  for (const placed_group& group : placed.groups) {
    const std::string stages = stages_of(group.name, roles);
    text += "  " + group.name + "  " + group.device_type + " " + list_of_numbers(group.devices) +
            (stages.empty() ? "" : "  " + stages) + "\n";
  }
  return text;
}

}  // namespace twinkle::place
