// SPDX-License-Identifier: Apache-2.0
// What the rows that a run leaves must come to.
#include <algorithm>
#include <limits>
#include <numeric>

#include "watch_rows.hpp"

namespace twinkle::sim {
namespace {

constexpr std::size_t any_number = std::numeric_limits<std::uint32_t>::max();

}  // namespace

bool row_oracle::filters(const station& at) const {
  const auto& regroups = in_.stages[at.stage].inputs[*at.input].regroups;
  return std::any_of(regroups.begin(), regroups.end(),
                     [](const auto& each) { return each.how == blueprint::regroup::kind::filter; });
}

// A row that its stage has not taken is one; what a body made of it may be more, and is counted as such, as is what is
// lost on the way to a body.
row_oracle::range row_oracle::still_at(const station& at, const row_station::seen& of) const {
  if (!at.input)
    return {in_.resumed ? 0U : 1U, 1};  // a resumed source may hold back what is left of a batch
  range rows{1, 1};
  const stage_plan::in& in = in_.stages[at.stage].inputs[*at.input];
  if (of.left > 0)
    rows = {of.left, any_number};
  else if (of.made > 0)
    rows = {of.made, of.made};
  else if (!at.ends)
    rows.most = std::max<std::size_t>(
        1, in.exactly.value_or(of.dead || of.worker != row_station::nobody || filters(at) ? any_number : 1));
  if (of.sides == 3)
    ++rows.most;  // two until they are joined
  return rows;
}

// Rows on their way that were followed no further than to the first edge that they went on.
std::size_t row_oracle::undelivered() const {
  std::size_t rows = 0;
  for (std::size_t at = 0; at < in_.edges.size(); ++at)
    if (!in_.edges[at].leads)
      rows += sent_[at] - std::min(sent_[at], delivered_[at]);
  return rows;
}

// Rows that no body was given, and that the stage says were lost with a node before it could be.
std::size_t row_oracle::lost_where_they_end(std::size_t stage) const {
  std::size_t waiting = 0;
  for (const station& at : inputs_[stage])
    if (at.ends && !filters(at))
      for (const auto& [id, how] : at.rows.all())
        waiting += how.dead ? 0 : 1;
  return std::min(waiting, lost_[stage]);
}

// Those first that were seen longest ago. `all`: with those that may be accounted for.
std::vector<row_oracle::place> row_oracle::open_rows(bool all) const {
  std::vector<place> found;
  const auto add = [&](const station& at, bool filtered) {
    for (const auto& [id, how] : at.rows.all())
      if (all || (!filtered && !(at.ends && how.dead)))
        found.push_back({id, &how, &at});
  };
  for (const auto& source : sources_)
    if (source)
      add(*source, false);
  for (const auto& stage : inputs_)
    for (const station& each : stage)
      add(each, each.ends && filters(each));
  std::sort(found.begin(), found.end(), [](const place& a, const place& b) {
    return a.how->when != b.how->when ? a.how->when < b.how->when
           : a.id != b.id             ? precedes(a.id, b.id)
                                      : a.at->stage < b.at->stage;
  });
  return found;
}

std::string row_oracle::where(const place& of) const {
  return of.how->worker == row_station::nobody ? in_.name(of.at->stage) : in_.place(of.at->stage, of.how->worker);
}

void row_oracle::name_lost(const std::vector<place>& rows, std::size_t most) {
  for (const place& each : rows)
    if (nowhere_.size() < most)
      nowhere_.push_back({each.id, where(each)});
}

void row_oracle::on_end(const run_report& report, bool ended) {
  if (in_.driven)
    return;
  if (!ended)
    name_lost(open_rows(true), any_number);
  if (!ended || report.why)
    return;
  check_totals(report);
  if (counts_)
    check_rows(report);
}

void row_oracle::check_totals(const run_report& report) {
  const bool held_back = in_.resumed && report.emitted < emitted_;
  if (report.emitted != emitted_ && !held_back)
    find("the report says that " + std::to_string(report.emitted) + " rows were emitted; " + std::to_string(emitted_) +
         " were");
  const std::size_t lost = std::accumulate(lost_.begin(), lost_.end(), std::size_t{0});
  if (report.lost != lost)
    find("the report says that " + std::to_string(report.lost) + " rows were lost; " + std::to_string(lost) + " were");
  const bool copies = std::any_of(in_.stages.begin(), in_.stages.end(), [](const stage_plan& stage) {
    return std::any_of(stage.endpoints.begin(), stage.endpoints.end(),
                       [](const auto& each) { return each.fewer == small::pad; });
  });
  std::size_t dead = dead_;
  for (std::size_t stage = 0; stage < lost_.size(); ++stage)
    dead += lost_where_they_end(stage);
  if (counts_ && report.returned == 0 && !copies && dead < lost)
    find(std::to_string(lost) + " rows were lost, and only " + std::to_string(dead) + " tombstones were left");
}

// What was trained and what is left, by name, is as much as the report counts as trained and as returned. Filtered rows
// of a stream that ends there are in its count of trained rows.
void row_oracle::check_rows(const run_report& report) {
  range left{undelivered(), undelivered()};
  std::size_t gone = 0;
  for (const place& each : open_rows(true)) {
    const range rows = still_at(*each.at, *each.how);
    left.least += rows.least;
    left.most += rows.most;
    if (each.at->input && each.at->ends && (each.how->dead || filters(*each.at)))
      ++gone;
  }
  for (std::size_t stage = 0; stage < lost_.size(); ++stage)
    gone += lost_where_they_end(stage);
  if (trained_ > report.trained || trained_ + gone < report.trained)
    find("the report says that " + std::to_string(report.trained) + " rows were trained; " + std::to_string(trained_) +
         " were, and " + std::to_string(gone) + " at most were dropped where they would have been");
  const std::size_t said = report.trained + report.returned;
  if (said > trained_ + left.most)
    find("the report says that " + std::to_string(said) + " rows were trained or returned; " +
         std::to_string(trained_ + left.most) + " at most were there");
  if (said >= trained_ + left.least)
    return;
  const std::size_t missing = trained_ + left.least - said;
  name_lost(open_rows(false), missing);
  std::string names;
  for (std::size_t at = 0; at < nowhere_.size() && at < 8; ++at)
    names += (at == 0 ? "" : ", ") + row(nowhere_[at].id) + " (last seen in " + nowhere_[at].place + ")";
  find(std::to_string(missing) + " rows are neither trained nor dropped, lost or returned: " + names +
       (nowhere_.size() > 8 ? ", …" : ""));
}

}  // namespace twinkle::sim
