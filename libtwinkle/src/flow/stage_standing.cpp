// SPDX-License-Identifier: Apache-2.0
// What a stage says of itself when the run asks who waits for whom.
#include <algorithm>

#include "twinkle/base/list.hpp"
#include "twinkle/flow/stage_machine.hpp"

namespace twinkle {

void stage_machine::on(const msg::asked&) {
  stage_standing now;
  for (const under_way& call : under_way_)
    if (const auto* data = std::get_if<data_call>(&call.why)) {
      now.rows += data->rows;
      now.done += call.value ? data->rows : calls_.rows_answered(call.call);
    } else if (const auto* gather = std::get_if<gather_call>(&call.why)) {
      now.rows += gather->rows.rows();
    }
  for (const inlet& each : inlets_)
    now.held += each.held();
  now.answers = answers_;
  now.waits = waits_for();
  send(address::session(), msg::standing{plan_.ordinal, std::move(now)});
}

std::string stage_machine::waits_for() const {
  for (const under_way& call : under_way_)
    if (calls_.in_flight(call.call)) {
      std::vector<std::string> places;
      for (const std::size_t worker : calls_.silent(call.call))
        places.push_back(plan_.team.places[worker] + (calls_.gone(worker) ? ", which is gone" : ""));
      if (places.size() > 4)
        places.assign({places[0], places[1], places[2], std::to_string(places.size() - 3) + " more workers"});
      return "for " + list(places) + " in " + name_of(call);
    }
  if (phase_ == phase::idle || phase_ == phase::built)
    return "for the other stages to be built";
  if (phase_ == phase::gone)
    return "";
  if (stalled_)
    return "to try again: " + to_string(stalled_->why);
  for (const subscription& each : subscriptions_)
    if (each.pending.empty() && (each.placed < 0 || (each.admitted && each.admitted->due())))
      return "for weights of version " + std::to_string(each.placed + 1);
  for (std::size_t at = 0; at < outlets_.size(); ++at)
    if (!open_for(plan_.outputs[at].endpoint, 0) && outlets_[at].outstanding() > 0)
      return "for room behind it: " + std::to_string(outlets_[at].outstanding()) + " rows that it made are not taken yet";
  for (const inlet& each : inlets_)
    if (!each.ready() && !each.drained())
      return "for rows, and has " + std::to_string(each.held()) + " that are not yet a batch";
  return "";
}

}  // namespace twinkle
