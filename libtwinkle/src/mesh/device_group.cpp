// SPDX-License-Identifier: Apache-2.0
#include "twinkle/mesh/device_group.hpp"

#include <algorithm>
#include <cctype>

#include "axis_names.hpp"

namespace twinkle {
namespace {

// The first, in order, of the values that are there more than once; null where there is none.
template <class T>
const T* twice(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  const auto found = std::adjacent_find(values.begin(), values.end());
  return found == values.end() ? nullptr : &*found;
}

}  // namespace

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
  else if (group.ranks.count() > static_cast<long long>(ranks_max))
    found.push_back(who + std::to_string(group.ranks.count()) + " ranks; it may have at most " +
                    std::to_string(ranks_max));
  if (group.device_type.empty())
    found.push_back(who + "it has no device type; give one, such as cuda or cpu");
  if (group.ranks.is_list() && canonical_device_type(group.device_type) == "cpu")
    found.push_back(who + "a cpu group takes a count, not a list of ranks");
  std::vector<std::size_t> devices = group.ranks.devices();
  if (const std::size_t* device = twice(devices))
    found.push_back(who + "device " + std::to_string(*device) + " is listed twice");
  if (!devices.empty() && devices.back() >= ranks_max)
    found.push_back(who + "device " + std::to_string(devices.back()) + " is listed; the last that can be is " +
                    std::to_string(ranks_max - 1));
  std::vector<std::string> visible = group.visible_devices;
  if (const std::string* device = twice(visible))
    found.push_back(who + "visible device '" + *device + "' is given twice");
  if (std::find(group.colocate.begin(), group.colocate.end(), group.name) != group.colocate.end())
    found.push_back(who + "it is to be colocated with itself; name another group");
  if (group.gpus_per_worker == 0)
    found.push_back(who + "gpus_per_worker is 0; it must be 1 or more");
  else if (group.ranks.count() > 0 && static_cast<std::size_t>(group.ranks.count()) % group.gpus_per_worker != 0)
    found.push_back(who + std::to_string(group.ranks.count()) + " ranks do not make whole workers of " +
                    std::to_string(group.gpus_per_worker));
  return found;
}

}  // namespace twinkle
