// SPDX-License-Identifier: Apache-2.0
// The events of a stage, and what it starts next.
#include "twinkle/flow/stage_machine.hpp"

#include <algorithm>
#include <limits>

#include "twinkle/base/ensure.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle {
namespace {

// One call runs, and the next one lies ready at the workers.
constexpr std::size_t calls_ahead = 2;

}  // namespace

stage_machine::stage_machine(stage_plan plan, stage_policies policies)
    : plan_(std::move(plan)),
      policies_(std::move(policies)),
      calls_(plan_.team, policies_.collect, policies_.counts),
      sequence_(plan_.emits_first) {
  for (const stage_plan::in& in : plan_.inputs) {
    std::vector<std::unique_ptr<regrouper>> operators;
    for (const blueprint::regroup& each : in.regroups)
      operators.push_back(policies_.regroup(each, in));
    inlets_.emplace_back(std::move(operators), in.buffer);
    joins_.push_back(in.beside ? std::optional<join>(std::in_place) : std::nullopt);
  }
  for (const stage_plan::out& out : plan_.outputs)
    outlets_.emplace_back(out.credits);
  for (const stage_plan::load& load : plan_.loads) {
    subscription made{load};
    if (load.bound)
      made.admitted.emplace(*load.bound, load.rows_per_step, plan_.resumed ? plan_.resumed->step : 0, policies_.admits);
    subscriptions_.push_back(std::move(made));
  }
  for (const stage_plan::publication& each : plan_.publications)
    series_.push_back({each, 0, -1, std::vector<std::int64_t>(each.subscribers.size(), -1)});
  if (plan_.resumed)
    resume();
}

std::optional<time_point> stage_machine::next_deadline() const {
  const auto next = calls_.next_deadline();
  return stalled_ ? std::min(stalled_->again, next.value_or(stalled_->again)) : next;
}

outbox stage_machine::receive(message&& content, time_point now) {
  now_ = now;
  std::visit([this](auto& event) { on(std::move(event)); }, content);
  advance();
  recover();
  start_clock();
  return std::exchange(out_, {});
}

void stage_machine::on(const msg::build&) {
  if (phase_ == phase::closing || phase_ == phase::gone)
    return;  // a worker was gone before
  ensure(phase_ == phase::idle, "a stage is built once");
  phase_ = phase::building;
  start(construct_call{}, 0, {}, -1, route::call{"constructor", dispatch::all, collect::each});
}

void stage_machine::on(const msg::begin&) {
  if (phase_ != phase::built)
    return;  // it is stopping already
  phase_ = phase::running;
  for (series& each : series_) {
    if (plan_.resumed) {
      publish_again(each);
      continue;
    }
    each.asked = 0;
    start(state_call{each.plan.ordinal, 0}, each.plan.state, {}, 0);
  }
}

void stage_machine::on(const msg::rows& arrived) {
  for (std::size_t at = 0; at < inlets_.size(); ++at) {
    const stage_plan::in& in = plan_.inputs[at];
    if (in.beside && (in.edge == arrived.edge || in.beside->edge == arrived.edge))
      join_rows(at, in.edge == arrived.edge ? 0 : 1, arrived.value);
    else if (in.edge == arrived.edge)
      take_in(at, arrived.value);
  }
}

void stage_machine::join_rows(std::size_t input, std::size_t side, const batch& rows) {
  try {
    for (const batch& joined : joins_[input]->add(side, rows))
      take_in(input, joined);
  } catch (const error& wrong) {
    fail({plan_.team.stage, plan_.endpoints[plan_.inputs[input].endpoint].name, std::nullopt, wrong.what()});
  }
}

void stage_machine::end_side(std::size_t input, std::size_t side) {
  join& both = *joins_[input];
  both.end(side);
  if (!both.ended())
    return;
  inlets_[input].end();
  if (both.held() > 0)
    fail({plan_.team.stage, plan_.endpoints[plan_.inputs[input].endpoint].name, std::nullopt,
          "zip: at the end of both streams, " + both.lonely()});
}

void stage_machine::on(const msg::credit& returned) {
  for (std::size_t at = 0; at < outlets_.size(); ++at)
    if (plan_.outputs[at].edge == returned.edge)
      outlets_[at].returned(returned.rows);
}

void stage_machine::on(const msg::end& ended) {
  for (std::size_t at = 0; at < inlets_.size(); ++at)
    if (const stage_plan::in& in = plan_.inputs[at];
        in.beside && (in.edge == ended.edge || in.beside->edge == ended.edge))
      end_side(at, in.edge == ended.edge ? 0 : 1);
    else if (in.edge == ended.edge)
      inlets_[at].end();
}

void stage_machine::on(const msg::published& arrived) {
  for (subscription& each : subscriptions_)
    if (each.plan.publication == arrived.publication)
      each.pending.push_back(arrived.value);
}

void stage_machine::on(const msg::emitted& some) {
  data_call* data = streaming(some.call);
  const route::returned* part = data == nullptr ? nullptr : calls_.part(some.call, some.worker);
  const batch rows = calls_.with_unread(some.worker, some.call, some.rows);
  calls_.closed(some.worker, some.call, rows);
  if (part == nullptr || part->replica || part->padding)
    return;
  ++data->streamed[{some.worker, some.call}];
  ++data->early;
  emit(call_under_way(some.call)->endpoint, rows);
}

void stage_machine::on(msg::reply&& answer) {
  ++answers_;
  pass_on(answer);
  if (auto outcome = calls_.reply(answer.worker, answer.call, std::move(answer.value)))
    settle(std::move(*outcome));
}

void stage_machine::on(const msg::tick&) {
  for (route::outcome& expired : calls_.expire(now_)) {
    if (under_way* call = call_under_way(expired.call); call != nullptr && std::holds_alternative<gather_call>(call->why))
      std::get<gather_call>(call->why).until = now_;  // it had its time
    settle(std::move(expired));
  }
  for (const route::machine::hung& each : calls_.take_hung(now_)) {
    left_alone_.push_back(plan_.team.places[each.worker] + " in " + each.endpoint);
    send(address::worker(plan_.ordinal, each.worker), msg::abandon{});
    lose(each.worker, "its body in " + each.endpoint + " did not end within " + to_string(route::machine::patience) +
                          " of being asked to", false);
  }
  gather_again();
}

template <class Other>
void stage_machine::on(const Other&) {
  ensure(false, "a message that a router gets");
}

std::int64_t stage_machine::version() const {
  if (!subscriptions_.empty())
    return subscriptions_.back().placed;
  return series_.empty() ? -1 : series_.front().made;
}

bool stage_machine::ready_for_rows() const {
  return std::all_of(subscriptions_.begin(), subscriptions_.end(), [](const auto& each) { return each.placed >= 0; });
}

bool stage_machine::open_for(std::size_t endpoint, std::size_t expected) const {
  std::size_t calls = 0;
  for (const under_way& call : under_way_)
    if (call.endpoint == endpoint) {
      if (const auto* data = std::get_if<data_call>(&call.why)) {
        expected += data->rows * plan_.inputs[data->input].expected;
        ++calls;
      } else if (std::holds_alternative<source_call>(call.why)) {
        expected += plan_.emits_rows;
        ++calls;
      }
    }
  for (std::size_t at = 0; at < outlets_.size(); ++at)
    if (plan_.outputs[at].endpoint == endpoint && !outlets_[at].open(expected, calls))
      return false;
  return true;
}

void stage_machine::advance() {
  if (phase_ == phase::built || phase_ == phase::running)
    start_client_calls();
  if (phase_ == phase::running) {
    bool moved = true;
    while (moved && phase_ == phase::running) {
      moved = start_loads() || start_source();
      for (std::size_t input = 0; input < inlets_.size(); ++input)
        moved = start_data(input) || moved;
    }
    end_stream();
  } else if (phase_ == phase::stopping) {
    advance_stop();
  }
}

bool stage_machine::start_loads() {
  if (gathers())
    return false;  // it comes behind those rows
  bool moved = false;
  for (subscription& each : subscriptions_) {
    if (each.pending.empty())
      continue;
    // A bounded load has its place in the order of rows; any other takes effect when it comes.
    if (each.admitted && each.placed >= 0 && !each.admitted->due())
      continue;
    const auto first = each.pending.begin() + static_cast<std::ptrdiff_t>(policies_.next_load(each.pending));
    weights next = std::move(*first);
    each.pending.erase(first);
    each.placed = static_cast<std::int64_t>(next.version());
    each.newest = next;
    if (each.admitted)
      each.admitted->loaded();
    start(load_call{each.placed}, each.plan.endpoint, std::move(next), each.placed);
    moved = true;
  }
  return moved;
}

bool stage_machine::start_source() {
  if (!plan_.source || exhausted_ || any<source_call>() || !ready_for_rows() || !open_for(*plan_.source, 0))
    return false;
  start(source_call{}, *plan_.source, {}, version(),
        route::call{plan_.endpoints[*plan_.source].name, dispatch::first, collect::first});
  return true;
}

bool stage_machine::start_data(std::size_t input) {
  inlet& from = inlets_[input];
  const stage_plan::in& in = plan_.inputs[input];
  std::size_t credits = 0;
  try {
    credits = from.advance();
  } catch (const std::exception& wrong) {  // a user's filter may throw anything
    fail({plan_.team.stage, plan_.endpoints[in.endpoint].name, std::nullopt, wrong.what()});
    return false;
  } catch (...) {
    fail({plan_.team.stage, plan_.endpoints[in.endpoint].name, std::nullopt,
          "a filter threw something that is no std::exception"});
    return false;
  }
  give_back(in, credits);
  const bool counted = plan_.steps && plan_.steps->endpoint == in.endpoint;
  if (!from.ready() || !ready_for_rows() || gathers() || data_under_way() >= calls_ahead || !open_for(in.endpoint, 0) ||
      (counted && steps_started_ == plan_.steps->steps))
    return false;
  std::size_t room = std::numeric_limits<std::size_t>::max();
  for (const subscription& each : subscriptions_)
    if (each.admitted)
      room = std::min(room, each.admitted->room());
  if (room == 0)
    return false;
  const inlet::taken taken = from.take(room);
  give_back(in, taken.credits);
  if (taken.rows.empty()) {
    pass_tombstones(taken.rows, input);
    return true;
  }
  for (subscription& each : subscriptions_)
    if (each.admitted)
      each.admitted->admit(taken.rows.rows());
  const std::optional<batch> rows = without_gone(in.as_completed ? by_identity(taken.rows) : taken.rows, in);
  if (!rows)
    return false;
  gather_call next{input, *rows, taken.rows.tags()[0].id.depth, plan_.endpoints[in.endpoint].how};
  if (rows->empty())
    pass_tombstones(*rows, input);
  else if (must_gather(in, *rows))
    gather(std::move(next));
  else
    start_rows(next, std::nullopt);
  return phase_ == phase::running;
}

void stage_machine::give_back(const stage_plan::in& in, std::size_t taken) {
  const std::size_t rows = taken == 0 ? 0 : policies_.credits(taken);
  if (rows == 0)
    return;
  send(address::router(in.producer), msg::credit{in.edge, rows});
  if (in.beside)
    send(address::router(in.beside->producer), msg::credit{in.beside->edge, rows});
}

void stage_machine::end_stream() {
  if (end_sent_ || (inlets_.empty() && !plan_.source))
    return;
  const bool drained = plan_.source ? exhausted_
                                    : std::all_of(inlets_.begin(), inlets_.end(),
                                                  [](const inlet& each) { return each.drained(); });
  if (!drained || any<data_call>() || any<source_call>() || gathers())
    return;
  end_sent_ = true;
  for (const stage_plan::out& out : plan_.outputs)
    send(address::router(out.consumer), msg::end{out.edge});
  send(address::session(), msg::ended{plan_.ordinal});
}

}  // namespace twinkle
