// SPDX-License-Identifier: Apache-2.0
#include "run_command.hpp"

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include "assembly.hpp"
#include "cluster_flags.hpp"
#include "real_files.hpp"
#include "real_signals.hpp"
#include "run_log.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/flow/check.hpp"
#include "twinkle/runtime/checkpoint_folder.hpp"
#include "twinkle/runtime/node.hpp"
#include "twinkle/runtime/session.hpp"

namespace twinkle::runtime {
namespace {

checkpoint resume(const graph& pipeline, checkpoint_folder& kept) {
  if (pipeline.plan().keepings.empty())
    throw error("the graph keeps nothing, so that there is nothing to resume; call .keeps of the stage that trains");
  checkpoint before = kept.read();
  std::cout << "resumed " << kept.path() << " at step " << before.step << std::endl;
  return before;
}

void tell(const std::vector<std::string>& remarks) {
  for (const std::string& each : remarks)
    std::cout << "remark  " << each << std::endl;
}

/// The run as the only node, or the one that leads.
int lead(const graph& pipeline, const run_flags& given, const real_signals& signals, node* self) {
  real_files files;
  std::vector<std::string> names;
  for (const blueprint::stage& stage : pipeline.plan().stages)
    names.push_back(stage.name);
  run_options how{.seed = pipeline.seed()};
  how.self = self;
  how.stop_patience = duration(static_cast<duration::rep>(given.stop_patience_s * 1e9));
  if (::isatty(STDOUT_FILENO) != 0)
    how.standing = std::chrono::milliseconds(250);
  checkpoint_folder kept{given.out + "/checkpoint", pipeline, how.seed, &files};
  if (!given.resume.empty())
    how.resumed = resume(pipeline, kept);
  else if (!given.out.empty())
    kept.clear();
  run_log log{names, given.out, files, std::cout, how.resumed ? how.resumed->step : 0};
  if (!given.out.empty()) {
    how.save_every = given.save_every;
    log.save_in(kept);
  }
  tell(check(pipeline.plan()).remarks);
  int code = 0;
  bool stuck = false;
  {
    session started{pipeline, how, log};
    const auto interrupt = [&] { started.interrupt(); };
    if (self != nullptr)
      self->on_interrupt(interrupt);
    const run_report& report = [&]() -> const run_report& {
      const real_signals::watching here(signals, interrupt);
      return started.wait();
    }();
    if (self != nullptr)
      self->on_interrupt(nullptr);
    log.conclude(report);
    code = report.why ? 1 : report.interrupted ? code_of_interrupted : 0;
    stuck = !report.abandoned.empty();
    if (stuck && self == nullptr)
      std::_Exit(code);  // a body that ignores everything would keep the process
  }
  if (self != nullptr)
    self->conclude(code);
  if (stuck)
    std::_Exit(code);
  return code;
}

int serve(node& self, const std::string& name) {
  const int code = self.serve();
  std::cout << "node '" << name << "' has served; " << (code == 0 ? "" : "the run ended with code " + std::to_string(code) + "; ")
            << "it keeps " << self.bytes_kept() << " bytes" << std::endl;
  return code;
}

}  // namespace

int run_command(const graph& pipeline, const run_flags& given) {
  const real_signals signals;
  if (given.cluster.empty()) {
    static_cast<void>(prepare(pipeline.plan()));  // a graph that cannot run leaves older results as they are
    return lead(pipeline, given, signals, nullptr);
  }
  node_options how = node_options_of(pipeline, given);
  tell(remarks_of(given));
  how.log = [](const std::string& line) { std::cout << line + "\n" << std::flush; };
  const std::string name = how.node;
  const std::string leader = how.machines.nodes.front().name;
  const std::string cluster = how.machines.name;
  auto early = std::make_unique<real_signals::watching>(signals, nullptr);  // there is nothing that has to end well
  node self{pipeline, std::move(how)};
  early.reset();
  {
    const real_signals::watching here(signals, [&] { self.interrupt(); });
    if (!self.join()) {
      std::cout << "interrupted before all nodes were there" << std::endl;
      return code_of_interrupted;
    }
    if (!self.leads()) {
      std::cout << "node '" << name << "' joined '" << cluster << "', which '" << leader << "' leads" << std::endl;
      return serve(self, name);
    }
  }
  return lead(pipeline, given, signals, &self);
}

int plan_command(const graph& pipeline, const run_flags& given) {
  assembly_options on;
  if (!given.cluster.empty())
    on.machines = machines_of(pipeline, given);
  std::cout << place::draw(pipeline.plan(), prepare(pipeline.plan(), on));
  tell(remarks_of(given));
  tell(check(pipeline.plan()).remarks);
  return 0;
}

}  // namespace twinkle::runtime
