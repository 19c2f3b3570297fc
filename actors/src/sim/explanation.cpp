// SPDX-License-Identifier: Apache-2.0
#include "explanation.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "twinkle/base/list.hpp"

namespace twinkle::sim {
namespace {

constexpr std::size_t lines_max = 8;

// Lines behind a name, as many as are worth reading.
std::string section(const std::string& name, std::vector<std::string> lines) {
  if (lines.size() > lines_max) {
    const std::size_t more = lines.size() - lines_max;
    lines.resize(lines_max);
    lines.push_back("and " + std::to_string(more) + " more");
  }
  std::string text;
  for (std::size_t at = 0; at < lines.size(); ++at)
    text += (at == 0 ? name + std::string(13 - name.size(), ' ') : std::string(13, ' ')) + lines[at] + "\n";
  return text;
}

// The first that went wrong.
time_point when(const seen& of) {
  time_point first = of.run.fault_at.value_or(of.run.at);
  for (const violation& each : of.run.violations)
    first = std::min(first, each.at);
  return first;
}

std::size_t steps_until(const seen& of, time_point when) {
  std::size_t count = 0;
  for (const auto& [stage, steps] : of.stages)
    count = std::max(count, static_cast<std::size_t>(std::count_if(
                                steps.begin(), steps.end(), [&](const seen::step& each) { return each.at <= when; })));
  return count;
}

std::vector<std::string> mishap_lines(const circumstances& in) {
  std::vector<std::string> lines;
  for (const mishap& each : in.mishaps)
    lines.push_back(to_string(each));
  if (lines.empty())
    lines.emplace_back("none");
  if (in.runs > 0)
    lines.push_back(std::string(in.smallest ? "(" : "(at most ") + std::to_string(in.mishaps.size()) + " of " + std::to_string(in.mishaps_before) +
                    " needed, after shrinking in " + std::to_string(in.runs) + " runs)");
  return lines;
}

std::vector<std::string> lost_lines(const std::vector<row_at>& lost) {
  std::vector<std::string> places;
  std::map<std::string, std::vector<std::string>> rows;
  for (const row_at& each : lost) {
    if (rows[each.place].empty())
      places.push_back(each.place);
    rows[each.place].push_back(to_string(each.id));
  }
  std::vector<std::string> lines;
  for (const std::string& place : places) {
    std::vector<std::string> some = rows[place];
    some.resize(std::min(some.size(), lines_max));
    const std::size_t more = rows[place].size() - some.size();
    lines.push_back(list(some) + (more > 0 ? " and " + std::to_string(more) + " more" : "") + ": last seen in " + place);
  }
  return lines;
}

std::string count(std::size_t number, const std::string& of) {
  return std::to_string(number) + " " + of + (number == 1 ? "" : "s");
}

}  // namespace

std::string short_hexadecimal(std::uint64_t value) {
  char text[16];
  return "0x" + std::string(text, std::to_chars(text, text + sizeof text, value, 16).ptr);
}

std::string explain(const seen& of, const circumstances& in) {
  const time_point at = when(of);
  std::string text = section("simulation", {"seed " + short_hexadecimal(in.seed) + "   t=+" + twinkle::to_string(at) +
                                            "   step " + std::to_string(steps_until(of, at)) + "   " +
                                            count(in.nodes, "node") + ", " + count(in.workers, "worker")});
  text += section("mishaps", mishap_lines(in));
  if (of.run.report.why)
    text += section("fault", {of.fault()});
  std::vector<std::string> broken;
  for (const violation& each : of.run.violations)
    broken.push_back(to_string(each));
  text += section("broken", broken);
  text += section("lost", lost_lines(of.run.lost));
  if (!of.run.ended)
    text += section("waits", of.run.waits);
  text += section("reproduce", {in.again});
  return text;
}

}  // namespace twinkle::sim
