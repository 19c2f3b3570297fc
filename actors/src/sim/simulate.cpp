// SPDX-License-Identifier: Apache-2.0
#include "twinkle/sim/simulate.hpp"

#include "../runtime/assembly.hpp"
#include "twinkle/sim/random_chooser.hpp"
#include "world.hpp"

namespace twinkle::sim {
namespace {

class recorder final : public run_listener {
 public:
  recorder(outcome& into, const world& in) : into_(into), in_(in) {}

  void on_step(const step_record& step) override { into_.steps.push_back(step); }
  void on_graded(const std::string& stage, std::int64_t version, const metrics& values) override {
    into_.grades.push_back({stage, version, values});
  }
  void on_fault(const fault&) override { into_.fault_at = in_.now(); }

 private:
  outcome& into_;
  const world& in_;
};

}  // namespace

outcome simulate(const graph& pipeline, const options& how) {
  const blueprint& plan = pipeline.plan();
  const place::layout placed = runtime::prepare(plan);
  runtime::assembly_options assembly;
  assembly.seed = how.run_seed;
  assembly.collector = how.collector;
  outcome seen;
  random_chooser chooser{how.seed};
  busy_meter meter{plan.stages.size()};
  world here{chooser};
  recorder listener{seen, here};
  session_machine session = runtime::make_session(plan, placed, assembly, listener);
  runtime::spawn_all(plan, placed, assembly, here.all(), meter, session, nullptr);
  here.post(address::session(), address::session(), msg::build{});
  if (how.interrupt)
    here.at(*how.interrupt, [&] { here.post(address::session(), address::session(), msg::interrupt{}); });
  seen.ended = here.run([&] { return session.done(); }, how.until);
  seen.report = session.report();
  seen.at = here.now();
  seen.history = here.history();
  seen.events = here.events();
  return seen;
}

}  // namespace twinkle::sim
