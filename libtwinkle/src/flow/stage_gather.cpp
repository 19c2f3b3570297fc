// SPDX-License-Identifier: Apache-2.0
// Rows that lie on other nodes, before a call of them starts. What was on a node that is lost is lost with it; and what
// cannot be done again does not begin before all of its workers have their rows.
#include <utility>

#include "twinkle/data/fetch_plan.hpp"
#include "twinkle/flow/stage_machine.hpp"

namespace twinkle {
namespace {

// What cannot be fetched may be on a node of which nobody knows yet that it is lost.
constexpr duration gathers_every = std::chrono::seconds(1);
constexpr duration gathers_for = std::chrono::seconds(10);

}  // namespace

void stage_machine::on(const msg::node_lost& what) {
  calls_.lose_node(what.what);
  gather_again();
}

// Nothing where rows are gone that may not be.
std::optional<batch> stage_machine::without_gone(const batch& rows, const stage_plan::in& in) {
  const blueprint::endpoint_spec& endpoint = plan_.endpoints[in.endpoint];
  const route::machine::left_of left = calls_.without_gone(endpoint.reads, rows);
  if (left.gone == 0)
    return rows;
  fault why{plan_.team.stage, endpoint.name, std::nullopt, left.cause};
  if (in.may_lose) {
    send(address::session(), msg::setback{plan_.ordinal, {std::move(why), left.gone}});
    return left.rows;
  }
  why.cause += "; " + std::to_string(left.gone) + " of " + std::to_string(rows.rows()) +
               " rows were there alone. With .failed = failing::drops_rows where they are made they are lost by name";
  account_.held += count_of(rows);
  fail(std::move(why));
  return std::nullopt;
}

// Where rows may be lost, tries are for workers that fail, and not for rows that are not there.
bool stage_machine::must_gather(const stage_plan::in& in, const batch& rows) const {
  const blueprint::endpoint_spec& of = plan_.endpoints[in.endpoint];
  return of.failed == failing::ends_run && (of.retries == 0 || in.may_lose) && is_far(route::read_by(of.reads, rows));
}

void stage_machine::gather(gather_call&& what) {
  const std::size_t endpoint = plan_.inputs[what.input].endpoint;
  route::call how = call_of(plan_.endpoints[endpoint], stamped(what.rows));
  how.how = what.how = asked_once(plan_.endpoints[endpoint].how);
  how.result = collect::each;
  how.spares_lost = std::exchange(how.retries, 0) > 0;  // what they would have had, another gets with its task
  route::machine::started begun = calls_.start(std::move(how));
  if (begun.refused && begun.refused->value)
    return start_rows(what, std::nullopt);  // nobody is there
  if (begun.refused) {
    fault why = begun.refused->value.failure();
    if (!awaited_.empty())
      return stall(std::move(what), std::move(why));  // its worker is replaced
    account_.held += count_of(what.rows);
    return fail(std::move(why));
  }
  for (route::delivery& each : begun.deliveries)
    send(address::worker(plan_.ordinal, each.worker),
         msg::task{begun.call, msg::task::kind::gather, endpoint, version(), std::move(each.input),
                   std::move(each.micro_batches)});
  under_way_.push_back({begun.call, endpoint, std::move(what), std::nullopt, plan_.endpoints[endpoint].deadline});
}

void stage_machine::gathered(under_way& call, const result<collected>& value) {
  const route::call_id id = call.call;
  gather_call of = std::get<gather_call>(std::move(call.why));
  std::erase_if(under_way_, [&](const under_way& each) { return each.call == id; });
  if (value && phase_ == phase::running)
    return start_rows(of, id);
  stall(std::move(of), value ? fault{} : value.failure());
  gather_again();
}

// What a worker has gathered is gone with it; another may do without.
void stage_machine::gather_without(std::size_t worker, const std::string& cause) {
  for (const under_way& each : under_way_)
    if (std::holds_alternative<gather_call>(each.why) && plan_.endpoints[each.endpoint].retries == 0) {
      if (auto ended = calls_.cancel(each.call, {plan_.team.places[worker], name_of(each), std::nullopt, cause}))
        settle(std::move(*ended));
      return;
    }
}

void stage_machine::stall(gather_call&& what, fault why) {
  what.why = std::move(why);
  what.again = now_ + gathers_every;
  what.until = what.until.value_or(now_ + gathers_for);
  stalled_ = std::move(what);
}

void stage_machine::gather_again() {
  if (!stalled_)
    return;
  gather_call next = *std::exchange(stalled_, std::nullopt);
  if (phase_ != phase::running) {
    account_.held += count_of(next.rows);
    return;
  }
  const std::optional<batch> left = without_gone(next.rows, plan_.inputs[next.input]);
  if (!left)
    return;
  if (left->empty()) {
    pass_tombstones(*left, next.input);
  } else if (left->rows() < next.rows.rows()) {
    next.rows = *left;
    next.until = std::nullopt;
    gather(std::move(next));
  } else if (now_ < next.again) {
    stalled_ = std::move(next);
  } else if (now_ < *next.until) {
    gather(std::move(next));
  } else {
    account_.held += count_of(next.rows);
    fail(std::move(next.why));
  }
}

}  // namespace twinkle
