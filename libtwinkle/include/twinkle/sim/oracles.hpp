// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "twinkle/flow/blueprint.hpp"
#include "twinkle/flow/stage_plan.hpp"
#include "twinkle/sim/observer.hpp"
#include "twinkle/sim/row_at.hpp"
#include "twinkle/sim/violation.hpp"

namespace twinkle::sim {

/// Holds a run to what is promised of every run, by the messages that it sees and by nothing that the run says of itself:
///
///     rows        each is trained, dropped or lost by name, or returned at the stop, once; the totals agree
///     order       on ordered edges rows come in the order in which they went in
///     groups      behind group_by, siblings are whole and stand together in each batch
///     staleness   no row is trained beyond its bound, by the oracle's own count of steps
///     versions    those that a worker loads, and that are published, only grow; nobody serves rows before it has one
///     credits     no more come back than went out, and in the end all have
///     drains      each task has one answer, and the run ends
///
/// Rows of calls by clients are in no stream, so that where a driver calls, rows are not followed. A run that ends with a
/// fault need not be complete. Keeps no batch; rows cost a few look-ups each, anything else next to nothing.
class oracles final : public observer {
 public:
  /// `stages` as they are run: with what the run is resumed from.
  oracles(const blueprint& plan, const std::vector<stage_plan>& stages);
  ~oracles() override;

  void on_delivery(time_point now, const address& from, const address& to, const message& what) override;
  void on_mishap(time_point now, const mishap& what) override;
  void on_undelivered(time_point now, std::span<const in_flight> messages) override;
  void on_end(time_point now, const run_report& report, bool ended) override;

  /// In the order of the list above, and in each by time; the first ten of each.
  [[nodiscard]] std::vector<violation> found() const;

  /// The rows that are nowhere, those first that were seen longest ago; of a run that did not end, all that it still had.
  [[nodiscard]] std::vector<row_at> lost() const;

 private:
  struct watch;
  std::unique_ptr<watch> watch_;
};

}  // namespace twinkle::sim
