// SPDX-License-Identifier: Apache-2.0
// How rows are followed while a run goes on.
#include "watch_rows.hpp"

#include <algorithm>

#include "twinkle/flow/regroup.hpp"

namespace twinkle::sim {
namespace {

// At most two data calls of a stage are under way, so that whatever comes later than this is another training.
constexpr std::size_t calls_apart = 4;

}  // namespace

row_oracle::row_oracle(const scene& in)
    : oracle(in, "rows"),
      sources_(in.stages.size()),
      tasks_(in),
      lost_(in.stages.size()),
      delivered_(in.edges.size()),
      sent_(in.edges.size()) {
  for (const stage_plan& stage : in.stages) {
    std::vector<station> made;
    for (std::size_t at = 0; at < stage.inputs.size(); ++at) {
      station& added = made.emplace_back(station{stage.ordinal, at});
      const std::size_t endpoint = stage.inputs[at].endpoint;
      added.ends = in.ends(stage.ordinal, endpoint);
      // Rows that are returned to nobody count as they are returned.
      counts_ = counts_ && !(added.ends && stage.endpoints[endpoint].target.returns_batch);
    }
    inputs_.push_back(std::move(made));
    sequences_.push_back(stage.emits_first);
    if (stage.source) {
      sources_[stage.ordinal] = station{stage.ordinal};
      counts_ = counts_ && !in.ends(stage.ordinal, *stage.source);
    }
  }
}

row_oracle::station* row_oracle::station_of(std::size_t stage, std::size_t endpoint) {
  if (sources_[stage] && in_.stages[stage].source == endpoint)
    return &*sources_[stage];
  const auto input = in_.input_of(stage, endpoint);
  return input ? &inputs_[stage][*input] : nullptr;
}

void row_oracle::on_rows(const msg::rows& what) {
  if (in_.driven)
    return;
  const scene::edge& edge = in_.edges[what.edge];
  delivered_[what.edge] += count_of(what.value);
  station* from = station_of(edge.producer, edge.endpoint);
  station& to = inputs_[edge.consumer][edge.input];
  const auto pass = [&](const identity& id, bool dead) {
    if (edge.leads && from != nullptr) {
      const row_station::closed before = from->rows.close(id);
      if (!before.known) {
        find(row(id) + " came on " + in_.name(edge) + " twice, or from nowhere");
        return;
      }
      if (before.was_dead && !dead)
        find(row(id) + " came on " + in_.name(edge) + ", and was a tombstone before");
      if (before.whole && dead && !before.was_dead)
        ++dead_;
    }
    if (!to.rows.arrive(id, edge.side, dead, in_.deliveries))
      find(row(id) + " came on " + in_.name(edge) + " twice");
  };
  for (const row_tag& tag : tags_of(what.value))
    pass(tag.id, false);
  if (what.value.tombstone_count() > 0)
    for (const tombstone& lost : what.value.tombstones())
      pass(lost.tag.id, true);
}

void row_oracle::on_task(std::size_t stage, std::size_t worker, const msg::task& task) {
  tasks_.began(stage, worker, task);
  const auto* rows = std::get_if<batch>(&task.input);
  const auto input = task.what == msg::task::kind::run ? in_.input_of(stage, task.endpoint) : std::nullopt;
  if (in_.driven || rows == nullptr || !input)
    return;
  station& at = inputs_[stage][*input];
  for (const row_tag& tag : tags_of(*rows)) {
    if (tag.padding)
      continue;
    if (at.ends) {
      train(at, worker, task, tag);
    } else if (row_station::seen* here = at.rows.find(tag.id)) {
      here->worker = static_cast<std::uint32_t>(worker);
      here->call = task.call;
      here->made = 0;
      here->when = in_.deliveries;
    }
  }
}

void row_oracle::train(station& at, std::size_t worker, const msg::task& task, const row_tag& tag) {
  auto here = std::find_if(at.calls.begin(), at.calls.end(), [&](const training& each) { return each.call == task.call; });
  if (here == at.calls.end()) {
    if (at.calls.size() == calls_apart)
      at.calls.pop_front();
    here = at.calls.insert(at.calls.end(), training{task.call});
  }
  const stage_plan& stage = in_.stages[at.stage];
  const std::size_t unit = unit_of(stage, task.endpoint, worker);
  const auto [taken, first] = here->units.try_emplace(tag.id, unit);
  if (!first) {
    if (taken->second != unit)
      find(row(tag.id) + " is trained by two workers that are no replicas; one is " + in_.place(at.stage, worker));
    return;
  }
  const row_station::seen* waits = at.rows.find(tag.id);
  if (waits == nullptr) {
    if (!at.trained.contains(tag.id))
      find(row(tag.id) + " is trained by " + in_.place(at.stage, worker) + ", and came from nowhere");
    else if (!goes_on_elsewhere(stage.endpoints[task.endpoint]))
      find(row(tag.id) + " is trained twice, the second time by " + in_.place(at.stage, worker));
    return;
  }
  if (waits->dead)
    find(row(tag.id) + " is trained by " + in_.place(at.stage, worker) + ", and is a tombstone");
  at.rows.remove(tag.id);
  at.trained.add(tag.id);
  ++trained_;
}

void row_oracle::on_reply(std::size_t stage, const msg::reply& answer) {
  const auto task = tasks_.answered(stage, answer.worker, answer.call);
  if (in_.driven || !task || task->what != msg::task::kind::run || !answer.value)
    return;
  const auto* rows = std::get_if<batch>(&answer.value.value());
  station* at = rows == nullptr ? nullptr : station_of(stage, task->endpoint);
  if (at == nullptr)
    return;
  if (!at->input)
    emit(*at, stage, *rows);
  else if (!at->ends)
    note_made(*at, answer, *rows);
}

// Sources number their rows as they come; those that were trained before the run was resumed do not come again.
void row_oracle::emit(station& from, std::size_t stage, const batch& rows) {
  const auto& before = in_.stages[stage].resumed;
  for (std::size_t at = 0; at < rows.rows(); ++at) {
    const identity id{static_cast<std::uint32_t>(stage), 0, sequences_[stage]++, {}};
    if (before && before->trained.contains(id))
      continue;
    ++emitted_;
    if (!in_.ends(stage, *in_.stages[stage].source))
      from.rows.arrive(id, 0, false, in_.deliveries);
  }
}

void row_oracle::note_made(station& at, const msg::reply& answer, const batch& rows) {
  const auto note = [&](const row_tag& tag) {
    row_station::seen* of = tag.padding || tag.unfinished ? nullptr : at.rows.owner(tag.id);
    if (of == nullptr || of->worker != answer.worker || of->call != answer.call)
      return;
    ++of->made;
    of->when = in_.deliveries;
  };
  for (const row_tag& tag : tags_of(rows))
    note(tag);
  if (rows.tombstone_count() > 0)
    for (const tombstone& lost : rows.tombstones())
      note(lost.tag);
}

void row_oracle::on_finished(const msg::finished& what) {
  for (const auto& [edge, rows] : what.rows.sent)
    sent_[edge] += rows;
}

}  // namespace twinkle::sim
