// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/route.hpp"

#include <algorithm>

#include "twinkle/base/ensure.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/base/list.hpp"
#include "cut.hpp"

namespace twinkle::route {

machine::machine(team workers, collector rule, reply_rule counts)
    : workers_(std::move(workers)),
      rule_(std::move(rule)),
      counts_(std::move(counts)),
      gone_(workers_.workers(), presence::here),
      why_gone_(workers_.workers()) {
  ensure(workers_.workers() > 0 && workers_.data_rank.size() == workers_.workers() &&
             workers_.representatives.size() <= workers_.workers(),
         "a team has workers, each with its data rank");
}

machine::flight* machine::find(call_id id) {
  const auto found = std::find_if(calls_.begin(), calls_.end(), [&](const flight& each) { return each.id == id; });
  return found == calls_.end() ? nullptr : &*found;
}

namespace {

// The columns that go around the workers. Throws `error` for one to be read that is not there.
std::vector<std::string> around(const call& wanted) {
  const auto* rows = std::get_if<batch>(&wanted.input);
  std::vector<std::string> names = rows != nullptr && wanted.reads ? rows->names() : std::vector<std::string>{};
  if (names.empty())
    return {};  // without columns it has no rows either
  (void)rows->select(std::vector<std::string_view>(wanted.reads->begin(), wanted.reads->end()));
  std::erase_if(names, [&](const std::string& name) {
    return std::find(wanted.reads->begin(), wanted.reads->end(), name) != wanted.reads->end();
  });
  return names;
}

}  // namespace

batch read_by(const read_list& reads, const batch& rows) {
  if (!reads)
    return rows;
  std::vector<std::string_view> names;
  for (const std::string& name : *reads)
    if (rows.has(name))
      names.push_back(name);
  return rows.select(names);
}

delivery machine::to_deliver(const flight& of, std::size_t part, std::size_t worker, const payload& given) {
  delivery made{worker, given, of.parts[part].micro_batches};
  auto* rows = std::get_if<batch>(&made.input);
  if (of.around.empty() || rows == nullptr)
    return made;
  const std::vector<std::string> all = rows->names();
  std::vector<std::string_view> read;
  for (const std::string& name : all)
    if (std::find(of.around.begin(), of.around.end(), name) == of.around.end())
      read.push_back(name);
  *rows = rows->select(read);
  return made;
}

batch machine::with_unread(std::size_t worker, call_id id, const batch& rows) const {
  const auto open = open_part(worker, id);
  if (!open || calls_[open->call].around.empty())
    return rows;
  const batch* had = given(id, worker);
  return had == nullptr ? rows : route::with_unread(*had, rows, calls_[open->call].around);
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
  try {
    added.around = around(added.wanted);
  } catch (const error& missing) {
    begun.refused = outcome{begun.call, fault{workers_.stage, added.wanted.endpoint, std::nullopt, missing.what()}};
    return begun;
  }
  if (added.wanted.only)
    std::erase_if(added.parts, [&](const returned& part) { return part.worker != *added.wanted.only; });
  // Rows that were picked are put back into the order of the input.
  if (added.parts.empty() || !added.parts.front().picked)
    added.wanted.input = {};
  added.answered.assign(added.parts.size(), false);
  if (auto why = set_gone_aside(added)) {
    begun.refused = outcome{begun.call, std::move(*why)};
    return begun;
  }
  begun.deliveries.reserve(added.parts.size());
  for (std::size_t at = 0; at < added.parts.size(); ++at)
    if (!added.begun.contains(at))
      begun.deliveries.push_back(to_deliver(added, at, added.parts[at].worker, added.parts[at].given));
  calls_.push_back(std::move(added));
  flight& call = calls_.back();
  if (call.parts.empty())
    begun.refused = finish(call, collected{payload{}});
  for (std::size_t at = 0; at < call.parts.size() && !begun.refused; ++at)
    if (const auto waits = call.begun.find(at); waits != call.begun.end() && !waits->second.worker)
      if (!send_again(call, at))
        begun.refused = give_up(call, at, located(call, at, {"", "", std::nullopt, why_gone_[call.parts[at].worker]}));
  return begun;
}

outcome machine::finish(flight& ended, result<collected> value) {
  outcome answer{ended.id, std::move(value)};
  if (!answer.value)
    for (std::size_t at = 0; at < ended.parts.size(); ++at)
      if (!ended.answered[at]) {
        answer.unfinished.push_back(worker_of(ended, at));
        call_back(ended, at, answer.value.failure());
      }
  std::erase_if(calls_, [&](const flight& each) { return each.id == answer.call; });
  return answer;
}

bool machine::counts(const flight& call, std::size_t part, const holder& from) const {
  return counts_({worker_of(call, part), id_of(call, part)}, call.answered[part], from);
}

std::optional<machine::spot> machine::open_part(std::size_t worker, call_id id) const {
  for (std::size_t at = 0; at < calls_.size(); ++at) {
    const flight& call = calls_[at];
    if (call.id == id) {
      // Deliveries are in worker order, and most calls go to all workers: then a worker's delivery is at its own index.
      std::size_t part = std::min(worker, call.parts.size() - 1);
      while (part > 0 && call.parts[part].worker > worker)
        --part;
      const bool open = call.parts[part].worker == worker && counts(call, part, {worker, id});
      return open ? std::optional(spot{at, part}) : std::nullopt;
    }
    for (const auto& [part, progress] : call.begun)
      if (progress.id == id && progress.worker == worker && counts(call, part, {worker, id}))
        return spot{at, part};
  }
  return std::nullopt;
}

fault machine::located(const flight& call, std::size_t part, fault why) const {
  if (why.place.empty())
    why.place = workers_.places[worker_of(call, part)];
  if (why.endpoint.empty())
    why.endpoint = call.wanted.endpoint;
  if (!why.rows && rows_in(call.parts[part].given) != nullptr)
    why.rows = call.parts[part].rows;
  return why;
}

std::optional<outcome> machine::reply(std::size_t worker, call_id id, result<payload>&& value) {
  std::erase_if(overdue_, [&](const overdue& each) { return each.worker == worker && each.id == id; });
  const auto open = open_part(worker, id);
  if (!open)
    return std::nullopt;
  if (!value)
    return failed(calls_[open->call], open->part, located(calls_[open->call], open->part, value.failure()));
  if (auto* rows = std::get_if<batch>(&value.value()))
    *rows = with_unread(worker, id, *rows);
  return done(calls_[open->call], open->part, std::move(value).value());
}

std::optional<outcome> machine::answer(flight& call, std::size_t part, payload value) {
  call.answered[part] = true;
  call.parts[part].value = std::move(value);
  call.parts[part].order = call.answers++;
  if (call.answers < call.parts.size())
    return std::nullopt;
  return finish(call, rule_(workers_, call.wanted, call.parts));
}

const returned* machine::part(call_id id, std::size_t worker) const {
  const auto open = open_part(worker, id);
  return open ? &calls_[open->call].parts[open->part] : nullptr;
}

const batch* machine::given(call_id id, std::size_t worker) const {
  const auto open = open_part(worker, id);
  if (!open)
    return nullptr;
  const flight& call = calls_[open->call];
  const auto begun = call.begun.find(open->part);
  return rows_in(begun == call.begun.end() ? call.parts[open->part].given : begun->second.given);
}

void machine::forget() {
  calls_.clear();
  again_.clear();
  recalls_.clear();
  overdue_.clear();
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

fault machine::silence(const flight& call, std::size_t part) const {
  return {workers_.stage, call.wanted.endpoint, std::nullopt,
          "no answer at the deadline (" + to_string(*call.wanted.deadline) + ") from " +
              workers_.places[worker_of(call, part)]};
}

std::vector<outcome> machine::expire(time_point now) {
  std::vector<call_id> late;
  for (const flight& call : calls_)
    if (call.wanted.deadline && *call.wanted.deadline <= now)
      late.push_back(call.id);
  std::vector<outcome> expired;
  for (const call_id id : late) {
    flight& call = *find(id);
    const std::vector<std::size_t> late_parts = worked_on(call);
    if (!late_parts.empty() && call.wanted.retries == 0 && call.wanted.failed == failing::ends_run) {
      expired.push_back(expire(call));
      continue;
    }
    std::vector<std::pair<std::size_t, call_id>> silent;
    for (const std::size_t part : late_parts)
      silent.emplace_back(part, id_of(call, part));
    std::optional<outcome> last;
    for (auto each = silent.begin(); each != silent.end() && !last; ++each)
      if (!call.answered[each->first] && id_of(call, each->first) == each->second)
        last = failed(call, each->first, located(call, each->first, silence(call, each->first)), true);
    if (last) {
      expired.push_back(std::move(*last));
      continue;
    }
    postponed_.push_back(id);  // its other parts wait behind others
    call.wanted.deadline = std::nullopt;
  }
  return expired;
}

// Its parts that workers may be working on: those that wait behind others are not to blame for the time that these take.
std::vector<std::size_t> machine::worked_on(const flight& call) const {
  std::vector<std::size_t> parts;
  for (std::size_t part = 0; part < call.parts.size(); ++part)
    if (const auto begun = call.begun.find(part);
        !call.answered[part] && (begun == call.begun.end() || begun->second.worker) &&
        !busy_before(worker_of(call, part), id_of(call, part)))
      parts.push_back(part);
  return parts;
}

bool machine::is_worked_on(call_id call) const {
  const auto found = std::find_if(calls_.begin(), calls_.end(), [&](const flight& each) { return each.id == call; });
  return found != calls_.end() && !worked_on(*found).empty();
}

bool machine::sent_again() const {
  return std::any_of(calls_.begin(), calls_.end(), [](const flight& each) { return !each.begun.empty(); });
}

outcome machine::expire(flight& call) {
  std::vector<std::string> names;
  std::optional<interval> rows;
  for (std::size_t part = 0; part < call.parts.size(); ++part)
    if (!call.answered[part]) {
      if (names.empty() && rows_in(call.parts[part].given) != nullptr)
        rows = call.parts[part].rows;
      names.push_back(workers_.places[worker_of(call, part)]);
    }
  return finish(call, fault{workers_.stage, call.wanted.endpoint, rows,
                            "no answer at the deadline (" + to_string(*call.wanted.deadline) + ") from " + list(names)});
}

std::optional<time_point> machine::next_deadline() const {
  std::optional<time_point> next;
  for (const flight& call : calls_)
    if (call.wanted.deadline && (!next || *call.wanted.deadline < *next))
      next = call.wanted.deadline;
  for (const overdue& each : overdue_)
    if (each.until && (!next || *each.until < *next))
      next = each.until;
  return next;
}

std::size_t machine::rows_answered(call_id id) const {
  std::size_t rows = 0;
  for (const flight& call : calls_)
    for (std::size_t at = 0; call.id == id && at < call.parts.size(); ++at)
      if (call.answered[at] && !call.parts[at].replica && rows_in(call.parts[at].given) != nullptr)
        rows += rows_in(call.parts[at].given)->rows();
  return rows;
}

std::vector<std::size_t> machine::silent(call_id id) const {
  std::vector<std::size_t> workers;
  for (const flight& call : calls_)
    if (call.id == id)
      for (std::size_t at = 0; at < call.parts.size(); ++at)
        if (!call.answered[at])
          workers.push_back(worker_of(call, at));
  return workers;
}

}  // namespace twinkle::route
