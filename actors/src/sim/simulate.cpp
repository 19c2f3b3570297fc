// SPDX-License-Identifier: Apache-2.0
#include "twinkle/sim/simulate.hpp"

#include <algorithm>
#include <utility>

#include "../runtime/assembly.hpp"
#include "cast.hpp"
#include "misfortunes.hpp"
#include "simulated_nodes.hpp"
#include "timed_worker.hpp"
#include "twinkle/sim/oracles.hpp"
#include "twinkle/sim/random_chooser.hpp"
#include "world.hpp"

namespace twinkle::sim {
namespace {

class recorder final : public run_listener {
 public:
  recorder(outcome& into, world& in, const simulated_nodes* nodes, const options& how)
      : into_(into), in_(in), nodes_(nodes), how_(how) {}

  void on_step(const step_record& step) override {
    into_.steps.push_back(step);
    if (nodes_ != nullptr)
      in_.at(in_.now() + nodes_->settles_within(), [this] { into_.kept.push_back(nodes_->bytes_kept()); });
  }
  void on_graded(const std::string& stage, std::int64_t version, const metrics& values) override {
    into_.grades.push_back({stage, version, values});
  }
  void on_setback(const fault& why, std::size_t) override { into_.setbacks.push_back(to_string(why)); }
  void on_quiet(duration, const std::vector<std::string>& waits) override { into_.waits = waits; }
  void on_fault(const fault&) override { into_.fault_at = in_.now(); }
  void on_saved(const checkpoint& made) override {
    if (how_.on_saved && !dead())
      how_.on_saved(made);
  }
  [[nodiscard]] bool dead() const { return how_.dies_after && in_.events() >= *how_.dies_after; }

 private:
  outcome& into_;
  world& in_;
  const simulated_nodes* nodes_;  // null: there is one
  const options& how_;
};

terrain terrain_of(const place::layout& placed) {
  terrain made{std::max<std::size_t>(placed.machines.nodes.size(), 1), {}, {}};
  for (const stage_plan& stage : placed.stages) {
    std::vector<std::size_t>& nodes = made.workers.emplace_back();
    for (const worker_place& each : stage.workers) {
      nodes.push_back(each.node);
      made.bodies[each.name] = each.node;
    }
  }
  return made;
}

runtime::assembly_options assembly_of(const options& how, const cast& played) {
  runtime::assembly_options made;
  made.seed = how.run_seed;
  made.machines = how.cluster;
  made.policies = how.policies;
  made.save_every = how.save_every;
  if (how.resumed)
    made.resumed = std::make_shared<const checkpoint>(*how.resumed);
  made.worker = [&played](const std::shared_ptr<runtime::stage_kit>& kit, std::size_t index, const seams& world,
                          busy_meter& meter) -> std::unique_ptr<actor_role> {
    const std::shared_ptr<const part>& of = played.parts[kit->plan.ordinal];
    if (of->may_block())
      return std::make_unique<runtime::worker_role>(kit, index, world, meter);
    return std::make_unique<timed_worker>(kit, index, of, world, meter);
  };
  return made;
}

}  // namespace

outcome simulate(const graph& pipeline, const options& how) {
  troubles bodies;
  const cast played = make_cast(pipeline.plan(), how, bodies);
  const blueprint& plan = played.plan;
  runtime::assembly_options assembly = assembly_of(how, played);
  const place::layout placed = runtime::prepare(plan, assembly);
  outcome seen;
  random_chooser by_seed{how.seed};
  busy_meter meter{plan.stages.size()};
  oracles promises{plan, placed.stages};
  std::vector<observer*> observers{how.observers};
  observers.push_back(&promises);
  chooser_seam& chooser = how.chooser != nullptr ? *how.chooser : by_seed;
  world here{chooser, terrain_of(placed), observers};
  std::optional<simulated_nodes> nodes;
  if (placed.machines.nodes.size() > 1) {
    const auto make = [&](const std::shared_ptr<runtime::stage_kit>& kit, std::size_t index) {
      return assembly.worker(kit, index, here.all(), meter);
    };
    nodes.emplace(here, chooser, placed, simulated_nodes::circumstances{how.links, how.run_seed, make});
    assembly.here = 0;
    assembly.kit = [&](const stage_plan& stage) { return nodes->kit(stage); };
  }
  simulated_nodes* const several = nodes ? &*nodes : nullptr;
  misfortunes bad{plan, placed, bodies, here, several};
  for (const mishap& each : how.mishaps)
    bad.add(each);
  recorder listener{seen, here, several, how};
  session_machine session = runtime::make_session(plan, placed, assembly, listener);
  runtime::spawn_all(plan, placed, assembly, here.all(), meter, session, nullptr);
  here.post(address::session(), address::session(), msg::build{});
  if (how.interrupt)
    here.at(*how.interrupt, [&] { here.post(address::session(), address::session(), msg::interrupt{}); });
  // What a dead process leaves behind is what was saved; that its bodies are told to end is only for us to go on.
  bool told = false;
  const auto over = [&] {
    if (!told && listener.dead()) {
      told = true;
      here.post(address::session(), address::session(), msg::failed{0, {plan.name, "", std::nullopt, "it died"}});
    }
    return session.done();
  };
  seen.ended = here.run(over, how.until, how.idle_max);
  seen.report = session.report();
  seen.at = here.now();
  seen.history = here.history();
  seen.events = here.events();
  const std::vector<observer::in_flight> on_their_way = here.undelivered();
  for (observer* each : observers) {
    each->on_undelivered(seen.at, on_their_way);
    each->on_end(seen.at, seen.report, seen.ended);
  }
  seen.violations = promises.found();
  if (nodes)
    seen.fetched = nodes->bytes_fetched();
  if (nodes && seen.ended && seen.report.good()) {
    here.dismiss_all();
    here.run([] { return false; }, here.now() + nodes->settles_within(), how.idle_max);
    for (const std::string& each : nodes->keepers())
      seen.violations.push_back({"freed", here.now(), "the run is over, and " + each + " of its rows"});
  }
  seen.lost = promises.lost();
  return seen;
}

}  // namespace twinkle::sim
