// SPDX-License-Identifier: Apache-2.0
#include "twinkle/sim/seen.hpp"

#include <algorithm>

#include "twinkle/base/error.hpp"
#include "twinkle/base/list.hpp"

namespace twinkle::sim {

const std::vector<seen::step>& seen::steps_of(const std::string& stage) const {
  const auto found = stages.find(stage);
  if (found != stages.end())
    return found->second;
  std::vector<std::string> names;
  for (const auto& each : stages)
    names.push_back("'" + each.first + "'");
  throw error("there is no stage '" + stage + "'; there are " + list(names));
}

std::int64_t seen::staleness_max(const std::string& stage) const {
  std::int64_t most = 0;
  for (const step& each : steps_of(stage))
    most = std::max(most, each.what.staleness_max);
  return most;
}

std::map<std::int64_t, std::size_t> seen::staleness(const std::string& stage) const {
  std::map<std::int64_t, std::size_t> counts;
  for (const step& each : steps_of(stage))
    ++counts[each.what.staleness_max];
  return counts;
}

std::vector<duration> seen::step_times(const std::string& stage) const {
  std::vector<duration> times;
  time_point before{0};
  for (const step& each : steps_of(stage)) {
    times.push_back(each.at - before);
    before = each.at;
  }
  return times;
}

std::size_t seen::tombstones(const std::string& stage) const {
  std::size_t count = 0;
  for (const step& each : steps_of(stage))
    count += each.what.tombstones;
  return count;
}

std::vector<std::uint64_t> seen::digests(const std::string& stage) const {
  std::vector<std::uint64_t> found;
  for (const step& each : steps_of(stage))
    found.push_back(each.what.digest);
  return found;
}

std::string seen::fault() const { return run.report.why ? to_string(*run.report.why) : ""; }

}  // namespace twinkle::sim
