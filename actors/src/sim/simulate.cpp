// SPDX-License-Identifier: Apache-2.0
#include "twinkle/sim/simulate.hpp"

#include <utility>

#include "../runtime/assembly.hpp"
#include "twinkle/sim/random_chooser.hpp"
#include "world.hpp"

namespace twinkle::sim {
namespace {

class recorder final : public run_listener {
 public:
  recorder(outcome& into, const world& in, const options& how) : into_(into), in_(in), how_(how) {}

  void on_step(const step_record& step) override { into_.steps.push_back(step); }
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
  const world& in_;
  const options& how_;
};

}  // namespace

outcome simulate(const graph& pipeline, const options& how) {
  const blueprint& plan = pipeline.plan();
  runtime::assembly_options assembly;
  assembly.seed = how.run_seed;
  assembly.collector = how.collector;
  assembly.save_every = how.save_every;
  if (how.resumed)
    assembly.resumed = std::make_shared<const checkpoint>(*how.resumed);
  const place::layout placed = runtime::prepare(plan, assembly);
  outcome seen;
  random_chooser chooser{how.seed};
  busy_meter meter{plan.stages.size()};
  world here{chooser};
  here.watch(how.observers);
  recorder listener{seen, here, how};
  session_machine session = runtime::make_session(plan, placed, assembly, listener);
  runtime::spawn_all(plan, placed, assembly, here.all(), meter, session, nullptr);
  here.post(address::session(), address::session(), msg::build{});
  if (how.interrupt)
    here.at(*how.interrupt, [&] { here.post(address::session(), address::session(), msg::interrupt{}); });
  // What a dead process leaves behind is what was saved; that its bodies are told to end is only for us to go on.
  bool told = false;
  const auto over = [&] {
    if (!std::exchange(told, told || listener.dead()) && told)
      here.post(address::session(), address::session(), msg::failed{0, {plan.name, "", std::nullopt, "it died"}});
    return session.done();
  };
  seen.ended = here.run(over, how.until);
  seen.report = session.report();
  seen.at = here.now();
  seen.history = here.history();
  seen.events = here.events();
  for (observer* each : how.observers)
    each->on_end(seen.at, seen.report, seen.ended);
  return seen;
}

}  // namespace twinkle::sim
