// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "twinkle/base/fault.hpp"
#include "twinkle/data/weights.hpp"
#include "twinkle/flow/message.hpp"

namespace twinkle {

/// What a run came to.
struct run_report {
  std::optional<fault> why = std::nullopt;  ///< the first cause, where it did not end well
  bool interrupted = false;                 ///< it was asked to end before its time
  std::size_t steps = 0;     ///< those before it was resumed included
  std::size_t emitted = 0;   ///< rows, by sources
  std::size_t trained = 0;   ///< rows, by endpoints that end a stream
  std::size_t returned = 0;  ///< rows that were on their way when it ended
  std::size_t setbacks = 0;  ///< failures that did not end it: others went on with the rows, or they were lost
  std::size_t lost = 0;      ///< rows, by name, as tombstones with the cause
  std::vector<std::string> abandoned = {};  ///< bodies that did not end: "place in endpoint"
  std::optional<weights> newest = std::nullopt;

  [[nodiscard]] bool good() const { return !why && abandoned.empty(); }
};

/// Hears of a run while it goes on.
class run_listener {
 public:
  virtual ~run_listener() = default;
  virtual void on_step(const step_record&) {}
  /// All that the run can go on from; what it throws ends the run with a fault.
  virtual void on_saved(const checkpoint&) {}
  virtual void on_graded(const std::string& /*stage*/, std::int64_t /*version*/, const metrics&) {}
  /// How all stages stand, in the order of the graph: each so often, where the run is asked to say.
  virtual void on_standing(const std::vector<stage_standing>&) {}
  /// Nothing has moved for so long; a line for each stage that waits.
  virtual void on_quiet(duration /*since*/, const std::vector<std::string>& /*who waits for whom*/) {}
  /// A worker failed, and the run goes on: others take its rows, or they are `lost`.
  virtual void on_setback(const fault&, std::size_t /*lost*/) {}
  /// The run ends badly, or early: said once, at once.
  virtual void on_fault(const fault&) {}
  virtual void on_interrupt(const std::string& /*what happens now*/) {}
};

}  // namespace twinkle
