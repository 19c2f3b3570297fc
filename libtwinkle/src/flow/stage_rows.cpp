// SPDX-License-Identifier: Apache-2.0
// Rows that a stage has taken: how a call of them starts, what they carry from there on, and what a step is told of them.
#include <algorithm>
#include <limits>
#include <numeric>

#include "twinkle/flow/stage_machine.hpp"

namespace twinkle {

// `gathered`: the call with which the workers got them.
void stage_machine::start_rows(const gather_call& of, std::optional<route::call_id> gathered) {
  const stage_plan::in& in = plan_.inputs[of.input];
  data_call call{of.input, of.rows.rows(), of.rows.tombstones(), of.depth};
  prepare(of.rows, call, in);
  if (phase_ != phase::running) {
    account_.held += count_of(of.rows);
    return;
  }
  route::call how = call_of(plan_.endpoints[in.endpoint], stamped(of.rows));
  how.how = of.how;
  how.may_lose = in.may_lose;
  start(std::move(call), in.endpoint, {}, version(), std::move(how), gathered);
  if (phase_ != phase::running)
    return;
  start_states(in.endpoint);
  start_save(in.endpoint);
}

// So that what is trained does not depend on who was first.
batch stage_machine::by_identity(const batch& rows) {
  const auto tags = rows.tags();
  std::vector<std::size_t> order(tags.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return tags[a].id < tags[b].id; });
  return rows.take(order);
}

// Nothing is left to work on, but those downstream count what was lost.
void stage_machine::pass_tombstones(const batch& rows, std::size_t input) {
  const std::size_t endpoint = plan_.inputs[input].endpoint;
  const bool counts = (plan_.steps && plan_.steps->endpoint == endpoint) ||
                      std::any_of(series_.begin(), series_.end(),
                                  [&](const series& each) { return each.plan.after == endpoint; });
  if (!plan_.endpoints[endpoint].target.returns_batch && !counts) {
    account_.trained += rows.tombstone_count();
    return;
  }
  if (!plan_.endpoints[endpoint].target.returns_batch) {
    const std::vector<tombstone> lost = rows.tombstones();
    fail({plan_.team.stage, plan_.endpoints[endpoint].name, std::nullopt,
          "all " + std::to_string(lost.size()) + " rows of its batch were lost; the first: " +
              to_string(lost.front().tag.id) + ", " + lost.front().reason});
    return;
  }
  data_call call{input, 0, rows.tombstones()};
  for (const tombstone& lost : call.tombstones)
    call.depth = std::max(call.depth, lost.tag.id.depth);
  under_way_.push_back({std::numeric_limits<route::call_id>::max(), endpoint, std::move(call), payload{batch{}}});
  release_data();
}

// What a step is to be told of its rows.
void stage_machine::prepare(const batch& rows, data_call& call, const stage_plan::in& in) {
  const bool trains = std::any_of(series_.begin(), series_.end(),
                                  [&](const series& each) { return each.plan.after == in.endpoint; });
  const bool counted = plan_.steps && plan_.steps->endpoint == in.endpoint;
  if (trains || counted) {
    step_record step{++steps_started_};
    const std::int64_t before = series_.empty() ? 0 : series_.front().made;
    digest ids;
    for (const row_tag& tag : rows.tags()) {
      ids.add(tag.id.source).add(tag.id.sequence);
      for (std::uint32_t at = 0; at < tag.id.depth; ++at)
        ids.add(tag.id.path[at].index);
    }
    step.staleness_max = policies_.staleness(rows, before);
    step.rows = rows.rows();
    step.tombstones = call.tombstones.size();
    step.digest = ids.value();
    step.version = before + (trains ? 1 : 0);
    if (in.max_staleness && step.staleness_max > static_cast<std::int64_t>(*in.max_staleness))
      fail({plan_.team.stage, plan_.endpoints[in.endpoint].name, std::nullopt,
            "step " + std::to_string(step.step) + " would train a row that is " + std::to_string(step.staleness_max) +
                " versions old; the bound is " + std::to_string(*in.max_staleness)});
    call.step = std::move(step);
  }
  note_trained(rows, call, in.endpoint);
}

// What the rows carry from here on.
batch stage_machine::stamped(const batch& rows) const {
  if (subscriptions_.empty() || rows.empty())
    return rows;
  std::vector<row_tag> tags(rows.tags().begin(), rows.tags().end());
  for (row_tag& tag : tags)
    tag.version = version();
  return rows.with_tags(std::move(tags));
}

// The state of a version is asked for right behind the call that makes it, before the next one can change it.
void stage_machine::start_states(std::size_t endpoint) {
  for (series& each : series_) {
    if (each.plan.after != endpoint)
      continue;
    ++each.made;
    const bool wanted = std::any_of(
        each.plan.subscribers.begin(), each.plan.subscribers.end(),
        [&](const auto& to) { return each.made % static_cast<std::int64_t>(to.every) == 0; });
    if (!wanted)
      continue;
    each.asked = each.made;
    start(state_call{each.plan.ordinal, each.made}, each.plan.state, {}, each.made);
  }
}

}  // namespace twinkle
