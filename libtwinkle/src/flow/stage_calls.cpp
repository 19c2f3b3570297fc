// SPDX-License-Identifier: Apache-2.0
// The calls of a stage: how they start, and what their outcomes come to.
#include <algorithm>

#include "twinkle/base/ensure.hpp"
#include "twinkle/flow/stage_machine.hpp"

namespace twinkle {

route::call stage_machine::call_of(const blueprint::endpoint_spec& spec, payload input) {
  return {spec.name,    spec.how,           spec.result,  spec.fewer, std::move(input),
          std::nullopt, spec.micro_batches, spec.reads,   spec.retries, spec.failed};
}

std::size_t stage_machine::data_under_way() const {
  return static_cast<std::size_t>(
      std::count_if(under_way_.begin(), under_way_.end(),
                    [](const under_way& call) { return std::holds_alternative<data_call>(call.why); }));
}

void stage_machine::start(purpose why, std::size_t endpoint, payload input, std::int64_t version,
                          std::optional<route::call> how, std::optional<route::call_id> gathered) {
  msg::task::kind what = msg::task::kind::run;
  const auto* revival = std::get_if<revival_call>(&why);
  if (std::holds_alternative<construct_call>(why) || (revival != nullptr && revival->builds))
    what = msg::task::kind::construct;
  else if (std::holds_alternative<destroy_call>(why))
    what = msg::task::kind::destroy;
  const bool runs = what == msg::task::kind::run;
  if (!how)
    how = call_of(plan_.endpoints[endpoint], std::move(input));
  if (std::holds_alternative<load_call>(why) || std::holds_alternative<destroy_call>(why))
    how->spares_lost = true;
  under_way added{0, endpoint, std::move(why)};
  if (!how->deadline)
    added.patience = runs ? plan_.endpoints[endpoint].deadline : duration(std::chrono::minutes(10));
  route::machine::started begun = calls_.start(std::move(*how));
  added.call = begun.call;
  under_way_.push_back(std::move(added));
  out_.reserve(out_.size() + begun.deliveries.size());
  for (route::delivery& each : begun.deliveries) {
    msg::task task{begun.call, what, endpoint, version};
    task.streams = hands_out(under_way_.back());
    task.gathered = gathered;
    if (!gathered) {
      task.input = std::move(each.input);
      task.micro_batches = std::move(each.micro_batches);
    }
    send(address::worker(plan_.ordinal, each.worker), std::move(task));
  }
  if (begun.refused)
    settle(std::move(*begun.refused));
}

// Calls wait for each other at the workers, and a call is not to blame for the time of those before it. Mostly that is
// the first one's; but what is sent again queues up behind later calls, which then have to be in time as well.
void stage_machine::start_clock() {
  for (const route::call_id each : calls_.take_postponed())
    if (under_way* call = call_under_way(each))
      call->patience = plan_.endpoints[call->endpoint].deadline;
  if (calls_.sent_again())
    for (under_way& each : under_way_)
      if (each.patience && each.patience != no_deadline && calls_.is_worked_on(each.call))
        calls_.expect_by(each.call, now_ + *std::exchange(each.patience, std::nullopt));
  const auto running = std::find_if(under_way_.begin(), under_way_.end(),
                                    [&](const under_way& call) { return calls_.in_flight(call.call); });
  if (running != under_way_.end() && running->patience == no_deadline)
    running->patience = std::nullopt;
  if (running != under_way_.end() && running->patience)
    calls_.expect_by(running->call, now_ + *std::exchange(running->patience, std::nullopt));
}

void stage_machine::settle(route::outcome outcome) {
  const auto found = std::find_if(under_way_.begin(), under_way_.end(),
                                  [&](const under_way& call) { return call.call == outcome.call; });
  ensure(found != under_way_.end(), "an outcome belongs to a call that is under way");
  if (auto* client = std::get_if<client_call>(&found->why)) {
    result<collected> value = outcome.value;
    if (value) {
      collected made = std::move(value).value();
      if (client->emits)
        name_new_rows(made);
      auto* one = std::get_if<payload>(&made);
      if (auto* rows = one == nullptr ? nullptr : std::get_if<batch>(one))
        for (tombstone& lost : client->tombstones)
          *rows = rows->with_tombstone(std::move(lost));
      value = std::move(made);
    }
    clients_.settle({client->client, client->id}, std::move(value), out_);
    under_way_.erase(found);
  } else if (std::holds_alternative<gather_call>(found->why)) {
    gathered(*found, outcome.value);
  } else if (outcome.value) {
    finish(*found, std::move(outcome.value).value());
    return;
  } else if (std::holds_alternative<destroy_call>(found->why)) {
    std::vector<std::string> abandoned;
    for (const std::size_t worker : outcome.unfinished)
      send(address::worker(plan_.ordinal, worker), msg::abandon{});
    for (const std::size_t worker : outcome.unfinished)
      abandoned.push_back(unfinished_.empty() ? plan_.team.places[worker] + " in destructor" : unfinished_[worker]);
    report_gone(std::move(abandoned));
    return;
  } else if (const auto* revival = std::get_if<revival_call>(&found->why)) {
    const std::size_t worker = revival->worker;
    under_way_.erase(found);
    if (!calls_.gone(worker))
      lose(worker, to_string(outcome.value.failure()), false);
  } else {
    if (const auto* data = std::get_if<data_call>(&found->why))
      account_.held += data->rows - data->early + data->tombstones.size();
    under_way_.erase(found);
    fail(outcome.value.failure());
  }
}

void stage_machine::finish(under_way& call, collected value) {
  if (std::holds_alternative<data_call>(call.why)) {
    call.value = std::move(value);
    release_data();
    return;
  }
  under_way done = std::move(call);
  std::erase_if(under_way_, [&](const under_way& each) { return each.call == done.call; });
  if (std::holds_alternative<construct_call>(done.why)) {
    if (phase_ == phase::building)
      phase_ = phase::built;
    send(address::session(), msg::built{plan_.ordinal});
  } else if (std::holds_alternative<destroy_call>(done.why)) {
    report_gone({});
  } else if (std::holds_alternative<source_call>(done.why)) {
    auto* rows = std::get_if<batch>(&std::get<payload>(value));
    if (rows == nullptr) {
      end_source(done.endpoint);
      return;
    }
    emit_source(done.endpoint, numbered(*rows, static_cast<std::uint32_t>(plan_.ordinal), sequence_));
  } else if (const auto* load = std::get_if<load_call>(&done.why)) {
    for (subscription& each : subscriptions_)
      if (each.plan.endpoint == done.endpoint)
        each.loaded = load->version;
    if (const auto* graded = std::get_if<payload>(&value); graded && std::holds_alternative<metrics>(*graded))
      send(address::session(), msg::graded{plan_.ordinal, load->version, std::get<metrics>(*graded)});
  } else if (const auto* state = std::get_if<state_call>(&done.why)) {
    const auto* made = std::get_if<payload>(&value);
    ensure(made != nullptr && std::holds_alternative<weights>(*made), "state returns weights");
    for (series& each : series_)
      if (each.plan.ordinal == state->publication)
        publish(each, state->version, std::get<weights>(*made));
  } else if (auto* save = std::get_if<save_call>(&done.why)) {
    const auto* made = std::get_if<payload>(&value);
    ensure(made != nullptr && std::holds_alternative<weights>(*made), "what saves returns weights");
    finish_save(std::move(*save), std::get<weights>(*made));
  }
}

// Results flow on in the order of their calls, whichever is complete first.
void stage_machine::release_data() {
  while (true) {
    const auto first = std::find_if(under_way_.begin(), under_way_.end(), [](const under_way& call) {
      return std::holds_alternative<data_call>(call.why);
    });
    if (first == under_way_.end() || !first->value)
      return;
    under_way done = std::move(*first);
    under_way_.erase(first);
    deliver(done);
  }
}

void stage_machine::deliver(under_way& call) {
  auto& data = std::get<data_call>(call.why);
  const stage_plan::in& in = plan_.inputs[data.input];
  const auto* value = std::get_if<payload>(&*call.value);
  const auto* rows = value == nullptr ? nullptr : std::get_if<batch>(value);
  const std::optional<batch> whole = rows == nullptr ? std::nullopt : std::optional(with_lost_children(*rows, in, data.depth));
  if (whole)
    rows = &*whole;
  if (rows != nullptr && in.exactly && count_of(*rows) != data.rows * *in.exactly) {
    fail({plan_.team.stage, plan_.endpoints[call.endpoint].name, interval{0, data.rows},
          "it returned " + std::to_string(count_of(*rows)) + " rows for " + std::to_string(data.rows) +
              ", but its edge says " + std::to_string(*in.exactly) + " for each; set .expands"});
    return;
  }
  if (rows != nullptr) {
    batch made = streams(call.endpoint) ? batch{} : *rows;
    batch lost;
    for (tombstone& each : data.tombstones)
      lost = lost.with_tombstone(std::move(each));
    if (lost.tombstone_count() > 0)
      made = batch::concat(std::vector<batch>{made, with_lost_children(lost, in, data.depth)});
    emit(call.endpoint, made);
  } else {
    account_.trained += data.rows + data.tombstones.size();
  }
  if (!data.step)
    return;
  ++steps_ended_;
  if (value != nullptr && std::holds_alternative<metrics>(*value))
    data.step->values = std::get<metrics>(*value);
  send(address::session(), msg::stepped{std::move(*data.step)});
}

bool stage_machine::streams(std::size_t endpoint) const {
  bool any = false;
  for (const stage_plan::out& out : plan_.outputs)
    if (out.endpoint == endpoint) {
      if (!out.as_completed)
        return false;
      any = true;
    }
  return any;
}

// Whether its bodies say at once which rows they have closed: they flow on, or need not be done again.
bool stage_machine::hands_out(const under_way& call) const {
  return std::holds_alternative<data_call>(call.why) && (streams(call.endpoint) || plan_.endpoints[call.endpoint].retries > 0);
}

stage_machine::under_way* stage_machine::call_under_way(route::call_id call) {
  const auto found = std::find_if(under_way_.begin(), under_way_.end(), [of = calls_.call_of(call)](const under_way& each) {
    return each.call == of;
  });
  return found == under_way_.end() ? nullptr : &*found;
}

// The data call whose rows go on as they come; null if it is none, or over.
stage_machine::data_call* stage_machine::streaming(route::call_id call) {
  under_way* found = calls_.in_flight(calls_.call_of(call)) ? call_under_way(call) : nullptr;
  return found != nullptr && streams(found->endpoint) ? std::get_if<data_call>(&found->why) : nullptr;
}

// A worker's rows go on before its peers have answered; whether they are right is seen as for any result.
void stage_machine::pass_on(const msg::reply& answer) {
  data_call* data = streaming(answer.call);
  const route::returned* part = data == nullptr ? nullptr : calls_.part(answer.call, answer.worker);
  if (part == nullptr || part->replica || part->padding || !answer.value)
    return;
  const batch* given = calls_.given(answer.call, answer.worker);
  const auto* value = std::get_if<batch>(&answer.value.value());
  const auto streamed = data->streamed.find({answer.worker, answer.call});
  if (streamed != data->streamed.end()) {  // it emitted all but what it leaves to others, or will be told
    const std::size_t left = value == nullptr ? 0 : value->rows() - route::finished_rows(*value).rows();
    data->early += given->rows() - streamed->second - left;
    return;
  }
  if (value == nullptr || given == nullptr)
    return;
  auto rows = route::rows_by_parent(*given, calls_.with_unread(answer.worker, answer.call, *value));
  if (auto* right = std::get_if<batch>(&rows)) {
    const batch finished = route::finished_rows(*right);
    data->early += given->rows() - (right->rows() - finished.rows());
    emit(call_under_way(answer.call)->endpoint, finished);
  }
}

void stage_machine::emit(std::size_t endpoint, const batch& rows) {
  const std::size_t count = count_of(rows);
  bool wanted = false;
  for (std::size_t at = 0; at < outlets_.size(); ++at) {
    if (plan_.outputs[at].endpoint != endpoint)
      continue;
    wanted = true;
    if (phase_ != phase::running || count == 0)
      continue;
    outlets_[at].sent(count);
    send(address::router(plan_.outputs[at].consumer), msg::rows{plan_.outputs[at].edge, rows});
  }
  if (!wanted)
    account_.trained += count;
  else if (phase_ != phase::running)
    account_.held += count;
}

void stage_machine::publish(series& of, std::int64_t version, const weights& value) {
  of.newest = value.at_version(static_cast<std::uint64_t>(version));
  remember(of);
  const bool last = phase_ != phase::running && version == of.made;
  for (std::size_t at = 0; at < of.sent.size(); ++at) {
    const stage_plan::subscriber& to = of.plan.subscribers[at];
    if (of.sent[at] == version || (last && to.bounded) ||
        (!last && version % static_cast<std::int64_t>(to.every) != 0))
      continue;
    of.sent[at] = version;
    send(address::router(to.stage), msg::published{of.plan.ordinal, *of.newest});
  }
}

void stage_machine::fail(fault why) {
  if (phase_ == phase::closing || phase_ == phase::gone)
    return;
  send(address::session(), msg::failed{plan_.ordinal, std::move(why)});
  phase_ = phase::closing;  // the session answers with an abort
}

std::string stage_machine::name_of(const under_way& call) const {
  if (std::holds_alternative<construct_call>(call.why))
    return "constructor";
  if (std::holds_alternative<destroy_call>(call.why))
    return "destructor";
  return plan_.endpoints[call.endpoint].name;
}

}  // namespace twinkle
