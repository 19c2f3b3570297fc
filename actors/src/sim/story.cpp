// SPDX-License-Identifier: Apache-2.0
#include "twinkle/sim/story.hpp"

#include <algorithm>
#include <charconv>

#include "../runtime/assembly.hpp"
#include "../runtime/real_environment.hpp"
#include "explanation.hpp"
#include "twinkle/base/digest.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/place/layout.hpp"
#include "twinkle/sim/shrink.hpp"

namespace twinkle::sim {
namespace {

constexpr std::size_t shrinking_runs_max = 100;

std::optional<std::uint64_t> number_in_environment(const std::string& name) {
  const auto text = runtime::environment(name);
  if (!text)
    return std::nullopt;
  const bool hexadecimal = text->starts_with("0x");
  const char* const first = text->data() + (hexadecimal ? 2 : 0);
  const char* const last = text->data() + text->size();
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(first, last, value, hexadecimal ? 16 : 10);
  if (code != std::errc{} || end != last)
    throw error(name + " is '" + *text + "', which is not a number that it can hold");
  return value;
}

// So that faults of one kind are alike, whichever rows and times they name.
std::string without_numbers(std::string text) {
  std::erase_if(text, [](char each) { return each >= '0' && each <= '9'; });
  return text;
}

// Which stage made which step, and when.
class step_watch final : public observer {
 public:
  explicit step_watch(const blueprint& plan) : plan_(plan) {
    for (const blueprint::stage& each : plan.stages)
      stages[each.name];
  }

  void on_delivery(time_point now, const address& from, const address&, const message& what) override {
    if (const auto* stepped = std::get_if<msg::stepped>(&what))
      stages[plan_.stages[static_cast<std::size_t>(from.stage)].name].push_back({now, stepped->record});
  }

  std::map<std::string, std::vector<seen::step>> stages;

 private:
  const blueprint& plan_;
};

}  // namespace

/// One seed of a story.
class story::telling {
 public:
  telling(const story& of, const std::function<void(graph&)>& build, duration until, std::uint64_t seed)
      : of_(of), build_(build), how_(of.how_) {
    how_.seed = seed;
    how_.until = until;
    const graph pipeline = built();
    how_.run_seed = pipeline.seed();
    const place::layout placed = runtime::prepare(pipeline.plan(), {.machines = how_.cluster});
    in_.seed = seed;
    in_.nodes = placed.described ? placed.machines.nodes.size() : 1;
    for (const stage_plan& each : placed.stages)
      in_.workers += each.workers.size();
    if (of.swarm_) {
      const sim::swarm drawn = draw_swarm(seed, pipeline.plan(), placed, patient(*of.swarm_));
      how_.mishaps.insert(how_.mishaps.end(), drawn.mishaps.begin(), drawn.mishaps.end());
      if (!of.latency_set_) {
        how_.links.latency_min = drawn.latency_min;
        how_.links.latency_max = drawn.latency_max;
      }
      if (drawn.fetches_all)
        how_.links.inline_bytes_max = 0;
    }
  }

  told tell(const std::string& again, bool twice) {
    told found{run(how_.mishaps)};
    std::vector<finding> wrong = findings(found.what);
    if (twice)
      if (const std::uint64_t other = run(how_.mishaps).run.history; other != found.what.run.history)
        wrong.push_back({"repeats", "the same seed gave another history: " + hexadecimal(found.what.run.history) +
                                        ", then " + hexadecimal(other) +
                                        "; a body reads what is not its context's: a clock, a global, an address"});
    for (const finding& each : wrong)
      found.wrong.push_back(each.what);
    in_.again = again;
    in_.mishaps = how_.mishaps;
    found.explained = explain(wrong.empty() ? found.what : smallest(found.what, wrong.front().kind), in_);
    return found;
  }

 private:
  struct finding {
    std::string kind;  // which of them it is, whatever else is different
    std::string what;
  };

  [[nodiscard]] graph built() const {
    graph pipeline{of_.name_, of_.given_};
    build_(pipeline);
    for (const auto& [name, value] : of_.given_)
      if (name != "seed" && std::none_of(pipeline.plan().options.begin(), pipeline.plan().options.end(),
                                         [&](const blueprint::option& each) { return each.name == name; }))
        throw error("the graph has no option '" + name + "'");
    return pipeline;
  }

  [[nodiscard]] swarm_options patient(swarm_options how) const {
    how.patience = how_.links.patience;
    return how;
  }

  // A graph of its own for each run: what its bodies keep may be kept in what it was built from.
  [[nodiscard]] seen run(const std::vector<mishap>& mishaps) const {
    const graph pipeline = built();
    step_watch steps{pipeline.plan()};
    options how = how_;
    how.mishaps = mishaps;
    how.observers = {&steps};
    seen what{simulate(pipeline, how)};
    what.stages = std::move(steps.stages);
    return what;
  }

  [[nodiscard]] std::vector<finding> findings(const seen& what) const {
    std::vector<finding> found;
    for (const violation& each : what.run.violations)
      found.push_back({each.oracle, to_string(each)});
    if (!what.run.ended)
      found.push_back({"ends", "the run was not over at " + twinkle::to_string(what.run.at)});
    if (what.run.report.why && !of_.may_fail_)
      found.push_back({"fault " + without_numbers(what.run.report.why->endpoint + ": " + what.run.report.why->cause), what.fault()});
    for (const expectation& each : of_.expected_)
      if (!each.holds(what))
        found.push_back({"expected " + each.what, "this was expected, and is not so: " + each.what});
    return found;
  }

  // The run with as few mishaps as can be in which the same is wrong, and nothing worse.
  [[nodiscard]] seen smallest(const seen& original, const std::string& kind) {
    const auto fails = [&](const seen& what) {
      const std::vector<finding> wrong = findings(what);
      return !wrong.empty() && wrong.front().kind == kind;
    };
    if (how_.mishaps.empty() || !fails(original))
      return original;
    seen last = original;
    const shrunk found = shrink(
        how_.mishaps,
        [&](const std::vector<mishap>& fewer) {
          seen what = run(fewer);
          if (!fails(what))
            return false;
          last = std::move(what);
          return true;
        },
        shrinking_runs_max);
    in_.mishaps = found.mishaps;
    in_.mishaps_before = how_.mishaps.size();
    in_.runs = found.runs;
    in_.smallest = found.smallest;
    return last;
  }

  const story& of_;
  const std::function<void(graph&)>& build_;
  options how_;
  circumstances in_;
};

bool story::has_costs() const {
  return how_.lasts || std::any_of(how_.rules.begin(), how_.rules.end(), [](const rule& each) { return each.lasts != nullptr; });
}

story& story::nodes(std::size_t count, std::size_t devices) {
  std::vector<place::cluster::node> all;
  for (std::size_t node = 0; node < count; ++node)
    all.push_back({.name = "node-" + std::to_string(node), .devices = devices, .cpus = 1024});
  return cluster(std::move(all));
}

story& story::cluster(std::vector<place::cluster::node> nodes) {
  how_.cluster = place::cluster{"simulated", std::move(nodes)};
  return *this;
}

story& story::latency(duration least, duration most) {
  how_.links.latency_min = least;
  how_.links.latency_max = most;
  latency_set_ = true;
  return *this;
}

story& story::inline_rows(std::size_t bytes_max) {
  how_.links.inline_bytes_max = bytes_max;
  return *this;
}

story& story::patience(duration most) {
  how_.links.patience = most;
  return *this;
}

story& story::swarm(const swarm_options& how) {
  swarm_ = how;
  return *this;
}

story& story::seeds(std::size_t count) {
  seeds_ = count;
  return *this;
}

story& story::expect(std::string what, std::function<bool(const seen&)> holds) {
  expected_.push_back({std::move(what), std::move(holds)});
  return *this;
}

story& story::allow_fault() {
  may_fail_ = true;
  return *this;
}

std::vector<std::uint64_t> story::seeds() const {
  if (const auto only = number_in_environment("TWINKLE_SEED"))
    return {*only};
  const std::uint64_t count = number_in_environment("TWINKLE_SEEDS").value_or(seeds_);
  if (count == 0)
    throw error("a story under 0 seeds says nothing; give seeds(…), or TWINKLE_SEEDS, one at least");
  std::vector<std::uint64_t> all;
  for (std::uint64_t seed = 1; seed <= count; ++seed)
    all.push_back(seed);
  return all;
}

std::string story::in_environment(std::uint64_t seed) { return "TWINKLE_SEED=" + short_hexadecimal(seed); }

story::told story::tell(const std::function<void(graph&)>& build, duration until, std::uint64_t seed,
                        const std::string& again, bool twice) const {
  return telling{*this, build, until, seed}.tell(again, twice);
}

}  // namespace twinkle::sim
