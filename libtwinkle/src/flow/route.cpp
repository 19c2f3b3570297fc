// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/route.hpp"

#include <algorithm>

#include "twinkle/base/ensure.hpp"
#include "twinkle/base/list.hpp"
#include "cut.hpp"

namespace twinkle::route {

machine::machine(team workers, collector rule) : workers_(std::move(workers)), rule_(std::move(rule)) {
  ensure(workers_.workers() > 0 && workers_.data_rank.size() == workers_.workers() &&
             workers_.representatives.size() <= workers_.workers(),
         "a team has workers, each with its data rank");
}

machine::flight* machine::find(call_id id) {
  const auto found = std::find_if(calls_.begin(), calls_.end(), [&](const flight& each) { return each.id == id; });
  return found == calls_.end() ? nullptr : &*found;
}

machine::started machine::start(call wanted) {
  if (auto* rows = std::get_if<batch>(&wanted.input))
    *rows = rows->without_tombstones();
  else if (auto* several = std::get_if<arguments>(&wanted.input))
    for (batch& each : several->batches)
      each = each.without_tombstones();
  started begun{next_++};
  auto parts = cut(workers_, wanted);
  if (!parts) {
    begun.refused = outcome{begun.call, parts.failure()};
    return begun;
  }
  flight added{begun.call, std::move(wanted), std::move(parts).value(), {}};
  // Rows that were picked are put back into the order of the input.
  if (added.parts.empty() || !added.parts.front().picked)
    added.wanted.input = {};
  added.answered.assign(added.parts.size(), false);
  begun.deliveries.reserve(added.parts.size());
  for (const returned& part : added.parts)
    begun.deliveries.push_back({part.worker, part.given, part.micro_batches});
  calls_.push_back(std::move(added));
  return begun;
}

outcome machine::finish(flight& ended, result<collected> value) {
  outcome answer{ended.id, std::move(value)};
  if (!answer.value)
    for (std::size_t at = 0; at < ended.parts.size(); ++at)
      if (!ended.answered[at])
        answer.unfinished.push_back(ended.parts[at].worker);
  std::erase_if(calls_, [&](const flight& each) { return each.id == answer.call; });
  return answer;
}

std::optional<outcome> machine::reply(std::size_t worker, call_id id, result<payload>&& value) {
  flight* call = find(id);
  if (call == nullptr)
    return std::nullopt;
  // Deliveries are in worker order, and most calls go to all workers: then a worker's delivery is at its own index.
  std::size_t at = std::min(worker, call->parts.size() - 1);
  while (at > 0 && call->parts[at].worker > worker)
    --at;
  if (call->parts[at].worker != worker || call->answered[at])
    return std::nullopt;
  call->answered[at] = true;
  returned& part = call->parts[at];
  if (!value) {
    fault why = value.failure();
    if (why.place.empty())
      why.place = workers_.places[worker];
    if (why.endpoint.empty())
      why.endpoint = call->wanted.endpoint;
    if (!why.rows && rows_in(part.given) != nullptr)
      why.rows = part.rows;
    return finish(*call, std::move(why));
  }
  part.value = std::move(value).value();
  part.order = call->answers++;
  if (call->answers < call->parts.size())
    return std::nullopt;
  return finish(*call, rule_(workers_, call->wanted, call->parts));
}

const returned* machine::part(call_id id, std::size_t worker) const {
  for (const flight& call : calls_)
    if (call.id == id)
      for (std::size_t at = 0; at < call.parts.size(); ++at)
        if (call.parts[at].worker == worker)
          return call.answered[at] ? nullptr : &call.parts[at];
  return nullptr;
}

std::optional<outcome> machine::cancel(call_id id, fault why) {
  flight* call = find(id);
  if (call == nullptr)
    return std::nullopt;
  return finish(*call, std::move(why));
}

void machine::expect_by(call_id id, time_point deadline) {
  if (flight* call = find(id))
    call->wanted.deadline = deadline;
}

std::vector<outcome> machine::expire(time_point now) {
  std::vector<outcome> expired;
  for (std::size_t at = 0; at < calls_.size();) {
    flight& call = calls_[at];
    if (!call.wanted.deadline || *call.wanted.deadline > now) {
      ++at;
      continue;
    }
    std::vector<std::string> names;
    std::optional<interval> rows;
    for (std::size_t part = 0; part < call.parts.size(); ++part)
      if (!call.answered[part]) {
        if (names.empty() && rows_in(call.parts[part].given) != nullptr)
          rows = call.parts[part].rows;
        names.push_back(workers_.places[call.parts[part].worker]);
      }
    expired.push_back(finish(call, fault{workers_.stage, call.wanted.endpoint, rows,
                                         "no answer at the deadline (" + to_string(*call.wanted.deadline) +
                                             ") from " + list(names)}));
  }
  return expired;
}

std::optional<time_point> machine::next_deadline() const {
  std::optional<time_point> next;
  for (const flight& call : calls_)
    if (call.wanted.deadline && (!next || *call.wanted.deadline < *next))
      next = call.wanted.deadline;
  return next;
}

std::vector<std::size_t> machine::silent(call_id id) const {
  std::vector<std::size_t> workers;
  for (const flight& call : calls_)
    if (call.id == id)
      for (std::size_t at = 0; at < call.parts.size(); ++at)
        if (!call.answered[at])
          workers.push_back(call.parts[at].worker);
  return workers;
}

}  // namespace twinkle::route
