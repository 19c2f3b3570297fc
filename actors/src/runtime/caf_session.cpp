// SPDX-License-Identifier: Apache-2.0
#include "twinkle/runtime/session.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "assembly.hpp"
#include "caf_lodging.hpp"
#include "caf_world.hpp"
#include "net/node_process.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/interop/caf.hpp"
#include "twinkle/runtime/node.hpp"

namespace twinkle {

struct session::running {
  running(const graph& pipeline, const runtime::assembly_options& options, const run_options& how,
          run_listener& listener)
      : placed(runtime::prepare(pipeline.plan(), options)),
        meter(pipeline.plan().stages.size()),
        machine(runtime::make_session(pipeline.plan(), placed, options, listener)) {
    if (how.self != nullptr)
      home = how.self->process_->make_world();
    else if (how.system == nullptr)
      home = std::make_unique<runtime::caf_world>();
    else
      lodge(*how.system, pipeline.plan().name, options.stop_patience);
    runtime::run_world& world = *home;
    runtime::spawn_all(pipeline.plan(), placed, options, world.all(), meter, machine, [this] { end(); });
    if (lodging != nullptr)
      lodging->open_gates(pipeline.plan(), placed);
    world.open();
    world.post(address::session(), address::session(), msg::build{});
  }

  void lodge(caf::actor_system& system, const std::string& name, duration patience) {
    const auto on_lost = [this](fault why) {
      const std::lock_guard lock(mutex);
      if (done)
        return;
      lost.emplace();
      lost->why = std::move(why);
      lost->abandoned = {"what was under way when the actor system was shut down"};
      done = true;
      ended.notify_all();
    };
    auto made = std::make_unique<runtime::caf_lodging>(system, runtime::caf_lodging::terms{name, patience, on_lost});
    lodging = made.get();
    home = std::move(made);
  }

  void end() {
    if (lodging != nullptr)
      lodging->close_gates();
    const std::lock_guard lock(mutex);
    done = true;
    ended.notify_all();
  }

  place::layout placed;
  busy_meter meter;
  session_machine machine;
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::optional<run_report> lost;
  runtime::caf_lodging* lodging = nullptr;   // the home, in an actor system of the user's
  std::unique_ptr<runtime::run_world> home;  // last: its actors use all of the above until they end
};

namespace {

runtime::assembly_options assembly_of(const run_options& how, net::node_process* process) {
  runtime::assembly_options made{
      .seed = how.seed,
      .stop_patience = how.stop_patience,
      .quiet = how.quiet,
      .standing = how.standing,
      .policies = how.policies,
      .save_every = how.save_every,
      .resumed = how.resumed ? std::make_shared<const checkpoint>(*how.resumed) : nullptr};
  if (process == nullptr)
    return made;
  made.machines = process->machines();
  made.here = 0;
  made.kit = [process](const stage_plan& stage) { return process->make_kit(stage); };
  return made;
}

}  // namespace

session::session(const graph& pipeline, const run_options& options, run_listener& listener)
    : running_(std::make_unique<running>(
          pipeline, assembly_of(options, options.self == nullptr ? nullptr : options.self->process_.get()), options,
          listener)) {}

session::~session() {
  if (wait().abandoned.empty())
    return;
  running_->home->close();
  // Kept for good, and where a leak checker finds it: what was abandoned may still look at it.
  static std::mutex mutex;
  static auto& left_behind = *new std::vector<std::unique_ptr<running>>;
  const std::lock_guard lock(mutex);
  left_behind.push_back(std::move(running_));
}

void session::interrupt() { running_->home->post(address::session(), address::session(), msg::interrupt{}); }

const run_report& session::wait() {
  std::unique_lock lock(running_->mutex);
  running_->ended.wait(lock, [this] { return running_->done; });
  return running_->lost ? *running_->lost : running_->machine.report();
}

caf::actor interop::router(const session& of, std::string_view stage) {
  if (of.running_->lodging == nullptr)
    throw error("the session has an actor system of its own, which no other actor reaches; give it yours with "
                "run_options::system");
  return of.running_->lodging->gate(stage);
}

run_report run(const graph& pipeline, const run_options& options, run_listener& listener) {
  session started{pipeline, options, listener};
  return started.wait();
}

}  // namespace twinkle
