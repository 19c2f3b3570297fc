// SPDX-License-Identifier: Apache-2.0
// How a stage goes on without workers that are gone, and with those that take their places.
#include <algorithm>

#include "twinkle/flow/stage_machine.hpp"

namespace twinkle {

// What the calls want sent, left and told since the last event.
void stage_machine::recover() {
  for (route::recall& each : calls_.take_recalls(now_))
    send(address::worker(plan_.ordinal, each.worker), msg::cancel{each.id, std::move(each.why)});
  for (route::redelivery& each : calls_.take_again(subscriptions_.empty() ? -1 : version())) {
    under_way* call = call_under_way(each.call);
    if (call == nullptr)
      continue;
    call->patience = plan_.endpoints[call->endpoint].deadline;
    send(address::worker(plan_.ordinal, each.what.worker),
         msg::task{each.id, msg::task::kind::run, call->endpoint, version(), std::move(each.what.input),
                   std::move(each.what.micro_batches), hands_out(*call)});
  }
  for (route::setback& each : calls_.take_setbacks())
    send(address::session(), msg::setback{plan_.ordinal, std::move(each)});
}

void stage_machine::on(const msg::lost& what) {
  if (phase_ != phase::gone && !calls_.gone(what.worker))
    lose(what.worker, what.cause, true);
}

void stage_machine::on(const msg::back& what) {
  if (phase_ == phase::gone || phase_ == phase::closing || !calls_.gone(what.worker))
    return;
  if (awaited_.erase(what.worker) > 0)
    replace(what.worker);
}

// `returns`: somebody will say when there is a place for a new one.
void stage_machine::lose(std::size_t worker, const std::string& cause, bool returns) {
  const bool replaced = respawns_ + awaited_.size() < plan_.respawns && phase_ != phase::idle && phase_ != phase::building;
  for (route::outcome& ended : calls_.lose(worker, cause, replaced))
    settle(std::move(ended));
  if (phase_ == phase::closing || phase_ == phase::gone)
    return;
  if (replaced && !returns) {
    replace(worker);
    gather_without(worker, cause);
    return;
  }
  if (replaced)
    awaited_.insert(worker);
  gather_without(worker, cause);
  const fault why{plan_.team.places[worker], "", std::nullopt, cause};
  if (!replaced && !plan_.can_spare_workers()) {
    fail(why);
    return;
  }
  send(address::session(), msg::setback{plan_.ordinal, {why}});
  bool left = false;
  for (std::size_t each = 0; each < plan_.team.workers(); ++each)
    left = left || !calls_.gone(each) || awaited_.contains(each);
  if (!replaced && !left)
    fail({plan_.team.stage, "", std::nullopt, "its last worker is gone: " + cause});
}

// A new object at its place, which loads what the others have loaded before it does anything else.
void stage_machine::replace(std::size_t worker) {
  ++respawns_;
  send(address::router(plan_.ordinal), msg::respawn{worker});
  for (route::outcome& ended : calls_.regain(worker))
    settle(std::move(ended));
  if (phase_ == phase::closing || phase_ == phase::gone)
    return;
  route::call built{"constructor", dispatch::all, collect::each};
  built.only = worker;
  start(revival_call{worker, true}, 0, {}, -1, std::move(built));
  for (const subscription& each : subscriptions_) {
    if (!each.newest)
      continue;
    route::call loaded = call_of(plan_.endpoints[each.plan.endpoint], *each.newest);
    loaded.only = worker;
    start(revival_call{worker}, each.plan.endpoint, {}, each.placed, std::move(loaded));
  }
}

// A row that is lost takes its children with it, so that those who wait for as many see them all. `depth` is that of the
// rows that went in.
batch stage_machine::with_lost_children(const batch& rows, const stage_plan::in& in, std::uint32_t depth) {
  if (in.exactly.value_or(1) < 2 || rows.tombstone_count() == 0)
    return rows;
  const auto children = static_cast<std::uint32_t>(*in.exactly);
  const auto bury = [&](batch under, const tombstone& lost) {
    if (lost.tag.id.depth > depth)
      return under.with_tombstone(lost);
    for (std::uint32_t child = 0; child < children; ++child)
      under = under.with_tombstone({row_tag{child_of(lost.tag.id, child, children), lost.tag.version}, lost.reason});
    return under;
  };
  std::vector<batch> parts;
  for (std::size_t row = 0; row < std::max<std::size_t>(rows.rows(), 1); ++row) {
    const batch unit = rows.empty() ? rows : rows[interval{row, row + 1}];
    batch before;
    batch behind = unit.without_tombstones();
    for (const tombstone& lost : unit.tombstones())
      if (!unit.empty() && precedes(lost.tag.id, unit.tags()[0].id))
        before = bury(before, lost);
      else
        behind = bury(behind, lost);
    parts.push_back(std::move(before));
    parts.push_back(std::move(behind));
  }
  return batch::concat(parts);
}

}  // namespace twinkle
