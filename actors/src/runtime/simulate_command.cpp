// SPDX-License-Identifier: Apache-2.0
#include "simulate_command.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <ostream>
#include <vector>

#include "assembly.hpp"
#include "run_log.hpp"
#include "twinkle/base/digest.hpp"
#include "twinkle/base/shell_word.hpp"
#include "twinkle/sim/heavy_tail.hpp"

namespace twinkle::runtime {
namespace {

using namespace std::chrono_literals;

std::string plain(double number) {
  std::array<char, 64> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

class telling {
 public:
  telling(const std::function<void(graph&)>& build, const sim::story& told, const simulate_flags& given)
      : build_(build), told_(told), given_(given), until_(static_cast<duration::rep>(given.until_s * 1e9)) {
    told_.named(given.program);
    for (const auto& [name, value] : given.options)
      told_.option(name, value);
    if (given.nodes > 1)
      told_.nodes(given.nodes, devices_each()).latency(100us, 2ms);
    if (given.swarm && !told_.has_costs())
      told_.cost([](sim::work of) { return sim::heavy_tail(of.random, 20ms); });
  }

  [[nodiscard]] sim::story::told tell(std::uint64_t seed) const {
    sim::story of = told_;
    of.option("seed", seed);
    if (given_.swarm) {
      // Mishaps are drawn for as long as a run takes in which nothing goes wrong.
      const time_point calm = of.tell(build_, until_, seed, "").what.run.at;
      of.swarm({.from = std::min<time_point>(500ms, calm / 10), .until = calm, .lasts_max = std::max<duration>(calm / 2, 1ms)});
    }
    return of.tell(build_, until_, seed, again(seed), seed == given_.seed);
  }

 private:
  // As many on each node, in whole workers.
  [[nodiscard]] std::size_t devices_each() const {
    graph built{given_.program, given_.options};
    build_(built);
    std::size_t devices = 0;
    std::size_t unit = 1;
    for (const place::placed_group& each : prepare(built.plan()).groups) {
      devices += each.device_type == "cpu" ? 0 : each.devices.size();
      unit = std::lcm(unit, each.gpus_per_worker);
    }
    const std::size_t units = (devices + unit - 1) / unit;
    return (units + given_.nodes - 1) / given_.nodes * unit;
  }

  [[nodiscard]] std::string again(std::uint64_t seed) const {
    std::string line = given_.program + " simulate --seed " + std::to_string(seed);
    if (given_.swarm)
      line += " --faults swarm";
    if (given_.nodes > 1)
      line += " --nodes " + std::to_string(given_.nodes);
    if (given_.until_s != simulate_flags{}.until_s)
      line += " --until " + plain(given_.until_s);
    for (const auto& [name, value] : given_.options)
      if (name != "seed")
        line += " --" + name + " " + shell_word(value);
    return line;
  }

  const std::function<void(graph&)>& build_;
  sim::story told_;
  const simulate_flags& given_;
  duration until_;
};

void print_steps(const sim::seen& of, std::ostream& out) {
  for (const auto& [stage, steps] : of.stages)
    for (const sim::seen::step& each : steps)
      out << "t=+" << twinkle::to_string(each.at) << "  " << in_words(each.what) << "\n";
  for (const std::string& each : of.run.setbacks)
    out << "setback " << each << "\n";
}

void print_result(std::uint64_t seed, const sim::seen& of, std::ostream& out) {
  std::size_t steps = 0;
  for (const auto& [stage, made] : of.stages)
    steps += made.size();
  out << "seed " << seed << "  " << steps << " steps  t=+" << twinkle::to_string(of.run.at) << "  rows emitted " << of.emitted()
      << ", trained " << of.trained() << ", returned " << of.returned() << ", lost " << of.lost() << "  setbacks "
      << of.setbacks() << "  history " << hexadecimal(of.run.history) << "\n";
}

}  // namespace

int simulate_command(const std::function<void(graph&)>& build, const sim::story& told, const simulate_flags& given,
                     std::ostream& out) {
  const telling stories{build, told, given};
  std::vector<std::uint64_t> wrong;
  for (std::size_t at = 0; at < given.seeds; ++at) {
    const std::uint64_t seed = given.seed + at;
    const sim::story::told each = stories.tell(seed);
    if (given.seeds == 1)
      print_steps(each.what, out);
    print_result(seed, each.what, out);
    for (const std::string& what : each.wrong)
      out << "wrong   " << what << "\n";
    if (!each.wrong.empty() || (given.swarm && given.seeds == 1))
      out << each.explained;
    out.flush();
    if (!each.wrong.empty())
      wrong.push_back(seed);
  }
  if (given.seeds > 1)
    out << given.seeds << " seeds, " << (wrong.empty() ? "all well" : std::to_string(wrong.size()) + " wrong") << "\n";
  return wrong.empty() ? 0 : 1;
}

}  // namespace twinkle::runtime
