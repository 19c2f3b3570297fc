// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "twinkle/base/time.hpp"
#include "twinkle/flow/checkpoint.hpp"
#include "twinkle/flow/graph.hpp"
#include "twinkle/flow/run_report.hpp"
#include "twinkle/flow/stage_policies.hpp"

namespace caf {
class actor;
class actor_system;
}

namespace twinkle {

class node;
class session;
namespace interop {
caf::actor router(const session& of, std::string_view stage);
}

struct run_options {
  std::uint64_t seed = 1;
  duration stop_patience = std::chrono::seconds(10);  ///< for bodies to end, once they are asked to
  duration quiet = std::chrono::seconds(30);          ///< without progress, until it says who waits for whom; 0: never
  duration standing{0};                               ///< how often it says how the stages stand; 0: never
  stage_policies policies = {};
  /// Steps; 0: never. The listener hears of each checkpoint of a graph that keeps; see checkpoint_folder.
  std::size_t save_every = 0;
  std::optional<checkpoint> resumed = std::nullopt;  ///< where the run goes on; steps are counted from there
  /// Unset: one of its own. The system does not wait for the run. Shut down under it, it ends the run with a fault.
  caf::actor_system* system = nullptr;
  /// This process among the nodes of the run, which it leads, and all of which are there. Unset: it is the only one.
  node* self = nullptr;
};

/// A run of a graph: actors on CAF, bodies on threads, on this machine and on those of other nodes.
class session {
 public:
  /// Starts the run. Throws `error` with all problems of the graph, before anything starts. The listener is called from
  /// the session's actor, one call at a time, and must outlive the session.
  session(const graph& pipeline, const run_options& options, run_listener& listener);

  /// Waits for the end, and no actor of the run is left. Not in an actor that shares its thread. Bodies that were abandoned go on by themselves; the process should leave by std::_Exit.
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// Asks the run to end with its step, as Ctrl-C does. From any thread.
  void interrupt();

  /// Blocks until the run has ended.
  [[nodiscard]] const run_report& wait();

 private:
  friend caf::actor interop::router(const session& of, std::string_view stage);

  struct running;
  std::unique_ptr<running> running_;
};

/// The whole run.
[[nodiscard]] run_report run(const graph& pipeline, const run_options& options, run_listener& listener);

}  // namespace twinkle
