// SPDX-License-Identifier: Apache-2.0
#include "twinkle/mesh/device_group.hpp"

#include <algorithm>
#include <cctype>

namespace twinkle {

std::string canonical_device_type(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower == "gpu" ? "cuda" : lower;
}

std::vector<std::string> problems(const device_group& group) {
  std::vector<std::string> found;
  const std::string who = "device group '" + group.name + "': ";
  if (group.name.empty())
    found.emplace_back("a device group has no name");
  if (group.ranks.count() < 1)
    found.push_back(who + std::to_string(group.ranks.count()) + " ranks; it must have 1 or more");
  if (group.ranks.is_list() && canonical_device_type(group.device_type) == "cpu")
    found.push_back(who + "a cpu group takes a count, not a list of ranks");
  std::vector<std::size_t> sorted = group.ranks.devices();
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    found.push_back(who + "device " + std::to_string(*twice) + " is listed twice");
  if (group.gpus_per_worker == 0)
    found.push_back(who + "gpus_per_worker is 0; it must be 1 or more");
  else if (group.ranks.count() > 0 && static_cast<std::size_t>(group.ranks.count()) % group.gpus_per_worker != 0)
    found.push_back(who + std::to_string(group.ranks.count()) + " ranks do not make whole workers of " +
                    std::to_string(group.gpus_per_worker));
  return found;
}

}  // namespace twinkle
