// SPDX-License-Identifier: Apache-2.0
// What a stage keeps for a run that goes on later, and how it goes on from what was kept.
#include <algorithm>
#include <array>

#include "twinkle/flow/stage_machine.hpp"

namespace twinkle {
namespace {

bool anyone_needs(const stage_plan::publication& of, std::size_t version, std::size_t step) {
  return std::any_of(of.subscribers.begin(), of.subscribers.end(),
                     [&](const stage_plan::subscriber& each) { return each.needs(version, step); });
}

}  // namespace

void stage_machine::resume() {
  if (!plan_.keeps)
    return;
  const checkpoint& from = *plan_.resumed;
  trained_ = from.trained;
  steps_started_ = steps_ended_ = saved_ = from.step;
  for (series& each : series_) {
    each.made = static_cast<std::int64_t>(from.step);
    for (const checkpoint::published& version : from.versions)
      if (version.publication == each.plan.ordinal) {
        each.newest = version.value;
        each.past.emplace(version.value.version(), version.value);
      }
  }
}

void stage_machine::publish_again(series& of) {
  if (!of.newest)
    return;
  of.asked = static_cast<std::int64_t>(of.newest->version());
  for (std::size_t at = 0; at < of.sent.size(); ++at)
    for (const auto& [version, value] : of.past)
      if (of.plan.subscribers[at].needs(version, plan_.resumed->step)) {
        of.sent[at] = static_cast<std::int64_t>(version);
        send(address::router(of.plan.subscribers[at].stage), msg::published{of.plan.ordinal, value});
      }
}

void stage_machine::remember(series& of) {
  if (!plan_.keeps || plan_.keeps->every == 0)
    return;
  const std::uint64_t newest = of.newest->version();
  of.past.insert_or_assign(newest, *of.newest);
  std::erase_if(of.past, [&](const auto& each) { return !anyone_needs(of.plan, each.first, newest); });
}

// Its place is right behind the call that makes the step, before the next one can change what is kept.
void stage_machine::start_save(std::size_t endpoint) {
  if (!plan_.keeps || plan_.keeps->after != endpoint || plan_.keeps->every == 0)
    return;
  const stage_plan::keeping& keeps = *plan_.keeps;
  if (steps_started_ / keeps.every > saved_ / keeps.every && steps_started_ % keeps.aligned == 0)
    ask_to_save();
}

// A run that ends, or is told to, can be resumed from its last step.
bool stage_machine::save_last() {
  if (!plan_.keeps || plan_.keeps->every == 0 || steps_started_ == saved_ ||
      steps_started_ % plan_.keeps->aligned != 0)
    return false;
  ask_to_save();
  return true;
}

void stage_machine::ask_to_save() {
  saved_ = steps_started_;
  start(save_call{saved_, trained_}, plan_.keeps->save, {}, version());
}

void stage_machine::finish_save(save_call&& save, const weights& state) {
  auto made = std::make_shared<checkpoint>(checkpoint{save.step, state, {}, std::move(save.trained)});
  for (const series& each : series_)
    for (const auto& [version, value] : each.past)
      if (anyone_needs(each.plan, version, save.step))
        made->versions.push_back({each.plan.ordinal, value});
  send(address::session(), msg::saved{std::move(made)});
}

void stage_machine::note_trained(const batch& rows, const data_call& call, std::size_t endpoint) {
  if (!plan_.keeps || plan_.keeps->after != endpoint || plan_.keeps->every == 0)
    return;
  for (const row_tag& tag : rows.tags())
    trained_.add(tag.id);
  for (const tombstone& lost : call.tombstones)
    trained_.add(lost.tag.id);
}

batch stage_machine::outstanding(const batch& rows) const {
  const trained_rows& before = plan_.resumed->trained;
  std::vector<std::size_t> left;
  for (std::size_t row = 0; row < rows.rows(); ++row)
    if (!before.contains(rows.tags()[row].id))
      left.push_back(row);
  batch open = rows.without_tombstones();
  if (left.size() < rows.rows())
    open = open.take(left);
  for (tombstone& lost : rows.tombstones())
    if (!before.contains(lost.tag.id))
      open = open.with_tombstone(std::move(lost));
  return open;
}

// Rows that were trained before do not come again. What they leave of a batch goes with the next one, so that no batch
// is smaller than the source makes them.
void stage_machine::emit_source(std::size_t endpoint, const batch& rows) {
  batch left = plan_.resumed ? outstanding(rows) : rows;
  if (left.rows() < rows.rows() || !held_back_.empty()) {
    const std::array<batch, 2> both{std::exchange(held_back_, {}), std::move(left)};
    left = both[0].empty() ? both[1] : batch::concat(both);
    if (left.rows() < plan_.emits_rows)
      std::swap(left, held_back_);
    if (left.empty())
      return;
  }
  account_.emitted += left.rows();
  emit(endpoint, left);
}

void stage_machine::end_source(std::size_t endpoint) {
  exhausted_ = true;
  account_.emitted += held_back_.rows();
  emit(endpoint, std::exchange(held_back_, {}));
}

// Siblings of a row may have been trained before, where groups are not kept together: it came again for the others.
void stage_machine::take_in(std::size_t input, const batch& rows) {
  const stage_plan::in& in = plan_.inputs[input];
  const bool trains = plan_.resumed && plan_.keeps && plan_.keeps->after == in.endpoint;
  if (!trains || !plan_.resumed->trained.any_in_part()) {
    inlets_[input].receive(rows);
    return;
  }
  const batch left = outstanding(rows);
  if (const std::size_t passed = count_of(rows) - count_of(left); passed > 0) {
    account_.held += passed;
    inlets_[input].pass_over(passed);
    give_back(in, passed);
  }
  if (count_of(left) > 0)
    inlets_[input].receive(left);
}

}  // namespace twinkle
