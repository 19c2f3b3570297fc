// SPDX-License-Identifier: Apache-2.0
#include "twinkle/runtime/session.hpp"

#include <condition_variable>
#include <mutex>

#include "assembly.hpp"
#include "caf_world.hpp"

namespace twinkle {

struct session::running {
  running(const graph& pipeline, const runtime::assembly_options& options, run_listener& listener)
      : placed(runtime::prepare(pipeline.plan())),
        meter(pipeline.plan().stages.size()),
        machine(runtime::make_session(pipeline.plan(), placed, options, listener)) {
    runtime::spawn_all(pipeline.plan(), placed, options, world.all(), meter, machine, [this] {
      const std::lock_guard lock(mutex);
      done = true;
      ended.notify_all();
    });
    world.post(address::session(), address::session(), msg::build{});
  }

  place::layout placed;
  busy_meter meter;
  session_machine machine;
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  runtime::caf_world world;  // last: its actors use all of the above until they end
};

session::session(const graph& pipeline, const run_options& options, run_listener& listener)
    : running_(std::make_unique<running>(
          pipeline, runtime::assembly_options{options.seed, options.stop_patience, options.collector}, listener)) {}

session::~session() {
  if (!wait().abandoned.empty())
    static_cast<void>(running_.release());  // what was abandoned may still look at it
}

void session::interrupt() { running_->world.post(address::session(), address::session(), msg::interrupt{}); }

const run_report& session::wait() {
  std::unique_lock lock(running_->mutex);
  running_->ended.wait(lock, [this] { return running_->done; });
  return running_->machine.report();
}

run_report run(const graph& pipeline, const run_options& options, run_listener& listener) {
  session started{pipeline, options, listener};
  return started.wait();
}

}  // namespace twinkle
