// SPDX-License-Identifier: Apache-2.0
// How a stage ends: with the run, or because it is given up.
#include <algorithm>

#include "twinkle/flow/stage_machine.hpp"

namespace twinkle {

void stage_machine::on(const msg::stop& order) {
  if (phase_ == phase::closing || phase_ == phase::gone)
    return;
  await_version_ = order.await_version;
  phase_ = phase::stopping;
  clients_.give_up({plan_.team.stage, "", std::nullopt, "the run stops"}, out_);
}

void stage_machine::on(const msg::abort& order) {
  if (phase_ == phase::gone)
    return;
  unfinished_.assign(plan_.team.workers(), "");
  for (const under_way& call : under_way_) {
    if (std::holds_alternative<gather_call>(call.why))
      continue;  // which no body does
    for (const std::size_t worker : calls_.silent(call.call))
      if (unfinished_[worker].empty())
        unfinished_[worker] = plan_.team.places[worker] + " in " + name_of(call);
  }
  for (const under_way& call : under_way_)
    if (const auto* data = std::get_if<data_call>(&call.why))
      account_.held += data->rows - data->early + data->tombstones.size();
    else if (const auto* gather = std::get_if<gather_call>(&call.why))
      account_.held += count_of(gather->rows);
    else if (const auto* client = std::get_if<client_call>(&call.why))
      clients_.settle({client->client, client->id}, order.why, out_);
  if (const auto stalled = std::exchange(stalled_, std::nullopt))
    account_.held += count_of(stalled->rows);
  clients_.give_up(order.why, out_);
  calls_.forget();
  under_way_.clear();
  for (std::size_t worker = 0; worker < plan_.team.workers(); ++worker)
    send(address::worker(plan_.ordinal, worker), msg::cancel{std::nullopt, order.why});
  close(order.patience);
}

void stage_machine::advance_stop() {
  gather_again();  // which it does not any more
  if (start_loads() || !under_way_.empty() || flush_publications() || save_last())
    return;
  for (const subscription& each : subscriptions_)
    if (!each.admitted && each.loaded < await_version_)
      return;
  close(std::nullopt);
}

// Subscribers that look at weights see the last version, whatever their .every says.
bool stage_machine::flush_publications() {
  bool started = false;
  for (series& each : series_) {
    bool lacking = !each.newest || each.newest->version() != static_cast<std::uint64_t>(each.made);
    for (std::size_t at = 0; at < each.sent.size(); ++at)
      lacking = lacking || (!each.plan.subscribers[at].bounded && each.sent[at] < each.made);
    if (!lacking || each.asked < 0)
      continue;
    if (each.newest && each.newest->version() == static_cast<std::uint64_t>(each.made)) {
      publish(each, each.made, *each.newest);
      continue;
    }
    each.asked = each.made;
    start(state_call{each.plan.ordinal, each.made}, each.plan.state, {}, each.made);
    started = true;
  }
  return started;
}

void stage_machine::close(std::optional<duration> patience) {
  phase_ = phase::closing;
  for (const series& each : series_)
    if (each.newest)
      send(address::session(), msg::newest{*each.newest});
  route::call last{"destructor", dispatch::all, collect::each};
  if (patience)
    last.deadline = now_ + *patience;
  start(destroy_call{}, 0, {}, -1, std::move(last));
}

void stage_machine::report_gone(std::vector<std::string> abandoned) {
  under_way_.clear();
  phase_ = phase::gone;
  for (std::size_t at = 0; at < inlets_.size(); ++at) {
    account_.held += inlets_[at].held();
    const stage_plan::in& in = plan_.inputs[at];
    account_.received.emplace_back(in.edge, in.beside ? joins_[at]->received(0) : inlets_[at].received());
    if (in.beside) {
      account_.received.emplace_back(in.beside->edge, joins_[at]->received(1));
      account_.held += joins_[at]->held();
    }
  }
  for (std::size_t at = 0; at < outlets_.size(); ++at)
    account_.sent.emplace_back(plan_.outputs[at].edge, outlets_[at].total());
  std::int64_t newest = -1;
  for (const series& each : series_)
    if (each.newest)
      newest = std::max(newest, static_cast<std::int64_t>(each.newest->version()));
  abandoned.insert(abandoned.begin(), left_alone_.begin(), left_alone_.end());
  send(address::session(), msg::finished{plan_.ordinal, account_, newest, std::move(abandoned)});
}

}  // namespace twinkle
