// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "open_tasks.hpp"
#include "oracle.hpp"
#include "row_station.hpp"
#include "twinkle/flow/trained_rows.hpp"

namespace twinkle::sim {

/// Each row is trained, dropped or lost by name, or returned, once: followed from its source by its identity. A row is
/// trained when a worker of an endpoint that ends a stream is given it.
class row_oracle final : public oracle {
 public:
  explicit row_oracle(const scene& in);

  void on_rows(const msg::rows& what) override;
  void on_task(std::size_t stage, std::size_t worker, const msg::task& task) override;
  void on_reply(std::size_t stage, const msg::reply& answer) override;
  void on_gone(std::size_t stage, std::size_t worker) override { tasks_.gone(stage, worker); }
  void on_setback(const msg::setback& what) override { lost_[what.stage] += what.what.dropped; }
  void on_finished(const msg::finished& what) override;
  void on_end(const run_report& report, bool ended) override;

  [[nodiscard]] const std::vector<row_at>& lost() const { return nowhere_; }

 private:
  // A call that trains, and the rows that its workers were given: the same rows again are a replica's.
  struct training {
    route::call_id call = 0;
    std::unordered_map<identity, std::size_t, identity_hash> units = {};
  };
  struct station {
    std::size_t stage = 0;
    std::optional<std::size_t> input = std::nullopt;  // unset: of a source
    bool ends = false;
    row_station rows = {};
    std::deque<training> calls = {};
    trained_rows trained = {};
  };
  struct place {
    identity id;
    const row_station::seen* how = nullptr;
    const station* at = nullptr;
  };
  // How many rows the rest of a run may come to; more than one where it cannot be seen.
  struct range {
    std::size_t least = 0;
    std::size_t most = 0;
  };

  // as_it_goes
  [[nodiscard]] station* station_of(std::size_t stage, std::size_t endpoint);
  void emit(station& from, std::size_t stage, const batch& rows);
  void note_made(station& at, const msg::reply& answer, const batch& rows);
  void train(station& at, std::size_t worker, const msg::task& task, const row_tag& tag);

  // at the end
  [[nodiscard]] range still_at(const station& at, const row_station::seen& of) const;
  [[nodiscard]] std::size_t undelivered() const;
  [[nodiscard]] std::size_t lost_where_they_end(std::size_t stage) const;
  [[nodiscard]] std::vector<place> open_rows(bool all) const;
  [[nodiscard]] bool filters(const station& at) const;
  [[nodiscard]] std::string where(const place& of) const;
  void check_totals(const run_report& report);
  void check_rows(const run_report& report);
  void name_lost(const std::vector<place>& rows, std::size_t most);

  std::vector<std::vector<station>> inputs_;  // by stage and input
  std::vector<std::optional<station>> sources_;
  std::vector<std::uint64_t> sequences_;      // by stage, of the next row of its source
  open_tasks tasks_;
  bool counts_ = true;                        // what ends a stream can be seen
  std::size_t emitted_ = 0;
  std::size_t trained_ = 0;
  std::vector<std::size_t> lost_;             // rows, by stage, as it says
  std::size_t dead_ = 0;                      // that were alive before
  std::vector<std::size_t> delivered_;        // rows, by edge
  std::vector<std::size_t> sent_;             // rows, by edge, as their producers say
  std::vector<row_at> nowhere_;
};

}  // namespace twinkle::sim
