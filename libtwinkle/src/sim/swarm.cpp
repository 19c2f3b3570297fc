// SPDX-License-Identifier: Apache-2.0
#include "twinkle/sim/swarm.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "twinkle/base/random.hpp"
#include "twinkle/place/pulse.hpp"
#include "twinkle/sim/heavy_tail.hpp"

namespace twinkle::sim {
namespace {

using kind = mishap::kind;

constexpr kind kinds[] = {kind::slows,        kind::drags,  kind::throws,    kind::hangs,        kind::dies,
                          kind::late_weights, kind::stalls, kind::node_dies, kind::node_freezes, kind::cut};

// What a stage can take before the run has to end.
struct resilience {
  std::size_t failures = 0;  ///< of parts of calls
  std::size_t deaths = 0;    ///< of workers
};

resilience resilience_of(const stage_plan& stage) {
  if (!stage.can_spare_workers())
    return {};
  resilience found{std::numeric_limits<std::size_t>::max(), stage.respawns + stage.team.data_ranks() - 1};
  for (const blueprint::endpoint_spec& each : stage.endpoints)
    if (each.kind != blueprint::role::load && each.failed == failing::ends_run)
      found.failures = std::min(found.failures, each.retries);
  return found;
}

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

class drawing {
 public:
  drawing(std::uint64_t seed, const blueprint& plan, const place::layout& placed, const swarm_options& how)
      : plan_(plan),
        placed_(placed),
        how_(how),
        random_(derive(seed, "swarm")),
        fetches_(derive(seed, "fetches")),
        lasts_max_(how.lasts_max) {
    for (const stage_plan& stage : placed.stages) {
      left_.push_back(resilience_of(stage));
      // What is only late is not to look like a failure.
      for (const blueprint::endpoint_spec& each : stage.endpoints)
        lasts_max_ = std::min(lasts_max_, each.deadline / 4);
    }
  }

  swarm draw() {
    swarm made;
    made.latency_max = heavy_tail(random_, how_.latency_max / 64);
    made.latency_min = up_to(made.latency_max);
    made.fetches_all = nodes_keep_rows_ = fetches_.below(2) == 1;
    beat_max_ = place::pulse::rhythm::of(how_.patience).every + 2 * made.latency_max;
    std::vector<kind> on;
    for (const kind each : kinds)
      if (random_.below(2) == 1)
        on.push_back(each);
    if (on.empty())
      return made;
    for (std::size_t count = random_.below(how_.mishaps_max + 1); count > 0; --count)
      if (auto drawn = draw(on[random_.below(on.size())]))
        made.mishaps.push_back(std::move(*drawn));
    std::stable_sort(made.mishaps.begin(), made.mishaps.end(),
                     [](const mishap& a, const mishap& b) { return a.at < b.at; });
    return made;
  }

 private:
  // Nothing where the graph would not survive it.
  std::optional<mishap> draw(kind what) {
    mishap made{.at = how_.from + up_to(std::max(how_.until - how_.from, duration{0})),
                .what = what,
                .lasts = heavy_tail(random_, lasts_max_ / 64)};
    const bool good = what >= kind::node_dies ? strike_node(made) : strike_stage(made);
    return good ? std::optional(made) : std::nullopt;
  }

  bool strike_stage(mishap& made) {
    const std::size_t stage = random_.below(placed_.stages.size());
    const stage_plan& plan = placed_.stages[stage];
    made.stage = plan_.stages[stage].name;
    if (made.what == kind::late_weights)
      return !plan.loads.empty();
    if (made.what == kind::stalls)
      return true;
    made.worker = random_.below(plan.workers.size());
    if (made.what == kind::slows && how_.factor_max > 1)
      made.factor = 1 + 0.5 * static_cast<double>(1 + random_.below(2 * (how_.factor_max - 1)));
    if (made.what == kind::throws || made.what == kind::hangs)
      made.lasts = duration{0};
    std::vector<resilience> costs(left_.size());
    if (made.what == kind::throws || made.what == kind::hangs || made.what == kind::dies)
      costs[stage] = {1, made.what == kind::throws ? 0U : 1U};
    return pay(costs);
  }

  bool strike_node(mishap& made) {
    const auto& nodes = placed_.machines.nodes;
    if (nodes.size() < 2 || !placed_.described)
      return false;
    const std::size_t node = 1 + random_.below(nodes.size() - 1);
    std::size_t other = node;
    if (made.what == kind::cut && nodes.size() > 2 && random_.below(3) == 0)
      while (other == node)
        other = 1 + random_.below(nodes.size() - 1);
    const bool from_first = other == node;
    made.node = nodes[made.what == kind::cut && from_first ? 0 : node].name;
    if (made.what == kind::cut)
      made.other = nodes[other].name;
    std::vector<resilience> costs(left_.size());
    for (std::size_t stage = 0; stage < costs.size(); ++stage)
      for (const worker_place& each : placed_.stages[stage].workers)
        if (each.node == node)
          costs[stage] = nodes_keep_rows_ && !may_lose_rows(stage)
                             ? resilience{never, never}
                             : resilience{costs[stage].failures + 1, costs[stage].deaths + 1};
    if (made.what == kind::node_dies) {
      if (!pay(costs))
        return false;
      silences_[node].push_back({made.at, made.at + made.lasts});
      return true;
    }
    // A node that is away for long is taken to be lost, which may be more than the graph can take; two that cannot reach
    // each other would be so again and again.
    const duration unnoticed_max = std::max(how_.patience - beat_max_, duration{0});
    const bool joins = joins_another(made, node) || joins_another(made, other);
    if (joins || made.lasts >= unnoticed_max) {
      const bool paid = from_first && pay(costs);
      if (joins && !paid)
        return false;
      if (!paid)
        made.lasts = up_to(unnoticed_max / 2);
    }
    silences_[node].push_back({made.at, made.at + made.lasts});
    if (!from_first)
      silences_[other].push_back({made.at, made.at + made.lasts});
    return true;
  }

  // Whether those who get the rows that a stage makes go on without some.
  [[nodiscard]] bool may_lose_rows(std::size_t stage) const {
    return std::all_of(placed_.stages.begin(), placed_.stages.end(), [&](const stage_plan& each) {
      return std::all_of(each.inputs.begin(), each.inputs.end(), [&](const stage_plan::in& in) {
        const bool gets_them = in.producer == stage || (in.beside && in.beside->producer == stage);
        return in.may_lose || !gets_them;
      });
    });
  }

  // Silences of a node between which it is not heard are one.
  bool joins_another(const mishap& made, std::size_t node) {
    return std::any_of(silences_[node].begin(), silences_[node].end(), [&](const silence& each) {
      return made.at <= each.until + beat_max_ && each.from <= made.at + made.lasts + beat_max_;
    });
  }

  bool pay(const std::vector<resilience>& costs) {
    for (std::size_t stage = 0; stage < costs.size(); ++stage)
      if (costs[stage].failures > left_[stage].failures || costs[stage].deaths > left_[stage].deaths)
        return false;
    for (std::size_t stage = 0; stage < costs.size(); ++stage) {
      left_[stage].failures -= costs[stage].failures;
      left_[stage].deaths -= costs[stage].deaths;
    }
    return true;
  }

  duration up_to(duration most) {
    return duration{static_cast<duration::rep>(random_.below(static_cast<std::uint64_t>(most.count()) + 1))};
  }

  const blueprint& plan_;
  const place::layout& placed_;
  const swarm_options& how_;
  generator random_;
  generator fetches_;
  duration lasts_max_;
  struct silence {
    time_point from;
    time_point until;
  };
  bool nodes_keep_rows_ = false;  // which are lost with them
  duration beat_max_{};  // between signs of life
  std::map<std::size_t, std::vector<silence>> silences_;  // by node
  std::vector<resilience> left_;  // by stage
};

}  // namespace

swarm draw_swarm(std::uint64_t seed, const blueprint& plan, const place::layout& placed, const swarm_options& how) {
  return drawing{seed, plan, placed, how}.draw();
}

}  // namespace twinkle::sim
