// SPDX-License-Identifier: Apache-2.0
// What becomes of the parts of a call that are not done at once: their workers fail, or return unfinished rows.
#include <algorithm>
#include <iterator>
#include <map>

#include "twinkle/base/error.hpp"
#include "twinkle/flow/route.hpp"

namespace twinkle::route {
namespace {

payload these_rows(const payload& of, const std::vector<std::size_t>& rows) {
  if (const auto* several = std::get_if<arguments>(&of)) {
    arguments some{{}, several->others};
    for (const batch& each : several->batches)
      some.batches.push_back(each.take(rows));
    return some;
  }
  return std::get<batch>(of).take(rows);
}

// The given rows that have no descendant among the closed ones.
std::vector<std::size_t> open_rows(const batch& given, const std::vector<batch>& closed) {
  std::vector<std::size_t> open;
  for (std::size_t row = 0; row < given.rows(); ++row) {
    const auto below = [&](const identity& id) { return descends(id, given.tags()[row].id); };
    const bool found = std::any_of(closed.begin(), closed.end(), [&](const batch& each) {
      const std::vector<tombstone> lost = each.tombstones();
      return (!each.empty() && std::any_of(each.tags().begin(), each.tags().end(),
                                           [&](const row_tag& tag) { return below(tag.id); })) ||
             std::any_of(lost.begin(), lost.end(), [&](const tombstone& grave) { return below(grave.tag.id); });
    });
    if (!found)
      open.push_back(row);
  }
  return open;
}

std::vector<std::size_t> unfinished_in(const batch& rows, bool wanted) {
  std::vector<std::size_t> found;
  if (rows.identified())
    for (std::size_t row = 0; row < rows.rows(); ++row)
      if (rows.tags()[row].unfinished == wanted)
        found.push_back(row);
  return found;
}

template <class Change>
batch with_each_tag(const batch& rows, Change change) {
  if (!rows.identified())
    return rows;
  std::vector<row_tag> tags(rows.tags().begin(), rows.tags().end());
  for (row_tag& tag : tags)
    change(tag);
  return rows.with_tags(std::move(tags));
}

template <class Change>
void change_tags(payload& of, Change change) {
  if (auto* rows = std::get_if<batch>(&of))
    *rows = with_each_tag(*rows, change);
  else if (auto* several = std::get_if<arguments>(&of))
    for (batch& each : several->batches)
      each = with_each_tag(each, change);
}

}  // namespace

batch finished_rows(const batch& rows) {
  const std::vector<std::size_t> finished = unfinished_in(rows, false);
  return !rows.identified() || finished.size() == rows.rows() ? rows : rows.take(finished);
}

call_id machine::id_of(const flight& call, std::size_t part) const {
  const auto begun = call.begun.find(part);
  return begun == call.begun.end() ? call.id : begun->second.id;
}

std::size_t machine::worker_of(const flight& call, std::size_t part) const {
  const auto begun = call.begun.find(part);
  return begun == call.begun.end() ? call.parts[part].worker : begun->second.worker.value_or(call.parts[part].worker);
}

machine::progress& machine::progress_of(flight& call, std::size_t part) {
  const returned& of = call.parts[part];
  return call.begun.try_emplace(part, progress{call.id, of.worker, of.given}).first->second;
}

call_id machine::call_of(call_id id) const {
  for (const flight& call : calls_)
    for (const auto& [part, progress] : call.begun)
      if (progress.id == id)
        return call.id;
  return id;
}

// The workers that take the rows of one part together.
std::size_t machine::unit_of(const flight& call, std::size_t worker) const {
  return call.wanted.how.kind == dispatch::slice || call.wanted.how.kind == dispatch::all ? worker
                                                                                          : workers_.data_rank[worker];
}

std::vector<std::size_t> machine::parts_beside(const flight& call, std::size_t part) const {
  std::vector<std::size_t> beside;
  for (std::size_t at = 0; at < call.parts.size(); ++at)
    if (unit_of(call, call.parts[at].worker) == unit_of(call, call.parts[part].worker))
      beside.push_back(at);
  return beside;
}

// The next unit that can take what another leaves: best one that has nothing to do for this call, then one that has, and
// one that does not answer only where there is nobody else. Rows that are not finished may stay where they are.
std::optional<std::size_t> machine::stand_in(const flight& call, std::size_t unit, bool may_stay) const {
  enum rank : std::uint8_t { idle, stays, busy, same, silent, none };
  std::map<std::size_t, rank> ranks;
  for (std::size_t worker = 0; worker < workers_.workers(); ++worker)
    ranks.try_emplace(unit_of(call, worker), idle);
  const auto at_least = [&](std::size_t which, rank what) { ranks[which] = std::max(ranks[which], what); };
  for (std::size_t part = 0; part < call.parts.size(); ++part)
    if (!call.answered[part])
      at_least(unit_of(call, worker_of(call, part)), busy);
  ranks[unit] = may_stay ? stays : same;
  for (const overdue& each : overdue_)
    at_least(unit_of(call, each.worker), silent);
  for (std::size_t worker = 0; worker < workers_.workers(); ++worker)
    if (gone(worker))
      at_least(unit_of(call, worker), none);
  std::size_t best = unit;
  for (std::size_t step = 1; step < ranks.size(); ++step)
    if (const std::size_t next = (unit + step) % ranks.size(); ranks[next] < ranks[best])
      best = next;
  return ranks[best] == none ? std::nullopt : std::optional(best);
}

// Whether some unit is whole, or will be when those have come back who return.
bool machine::hopes(const flight& call) const {
  std::map<std::size_t, bool> whole;
  for (std::size_t worker = 0; worker < workers_.workers(); ++worker) {
    bool& unit = whole.try_emplace(unit_of(call, worker), true).first->second;
    unit = unit && gone_[worker] != presence::gone;
  }
  return std::any_of(whole.begin(), whole.end(), [](const auto& each) { return each.second; });
}

// To the workers of another unit; false if there is nobody, and nobody will come back.
bool machine::send_again(flight& call, std::size_t part, bool may_stay) {
  const std::size_t unit = unit_of(call, worker_of(call, part));
  const std::vector<std::size_t> beside = parts_beside(call, part);
  const auto next = stand_in(call, unit, may_stay);
  if (!next && !hopes(call))
    return false;
  std::vector<std::size_t> takers;
  for (std::size_t worker = 0; next && worker < workers_.workers(); ++worker)
    if (unit_of(call, worker) == *next)
      takers.push_back(worker);
  const call_id id = next_++;
  for (std::size_t at = 0; at < beside.size(); ++at) {
    progress& goes = progress_of(call, beside[at]);
    goes.id = id;
    goes.worker = next ? std::optional(takers.at(at % takers.size())) : std::nullopt;
    goes.closing.clear();
    if (next)
      again_.push_back({call.id, id, to_deliver(call, beside[at], *goes.worker, goes.given)});
  }
  return true;
}

void machine::call_back(flight& call, std::size_t part, const fault& why) {
  const auto begun = call.begun.find(part);
  const bool waits = begun != call.begun.end() && !begun->second.worker;
  if (call.answered[part] || waits || gone(worker_of(call, part)))
    return;
  recalls_.push_back({worker_of(call, part), id_of(call, part), why});
  std::erase_if(again_, [&](const redelivery& each) { return each.id == id_of(call, part); });
  if (call.wanted.retries > 0 || call.wanted.failed == failing::drops_rows)
    overdue_.push_back({worker_of(call, part), id_of(call, part), call.wanted.endpoint});
}

void machine::closed(std::size_t worker, call_id id, const batch& rows) {
  if (const auto open = open_part(worker, id))
    progress_of(calls_[open->call], open->part).closing.push_back(with_unread(worker, id, rows));
}

std::optional<outcome> machine::done(flight& call, std::size_t part, payload value) {
  const auto* rows = std::get_if<batch>(&value);
  const std::vector<std::size_t> left = rows == nullptr ? std::vector<std::size_t>{} : unfinished_in(*rows, true);
  if (rows == nullptr || (left.empty() && id_of(call, part) == call.id))
    return answer(call, part, std::move(value));
  progress& so_far = progress_of(call, part);
  try {
    batch made = *rows;
    if (!made.identified()) {
      auto owned = rows_by_parent(*rows_in(so_far.given), made);
      if (auto* wrong = std::get_if<std::string>(&owned))
        return failed(call, part, located(call, part, {"", "", std::nullopt, std::move(*wrong)}));
      made = std::get<batch>(std::move(owned));
    }
    if (left.empty()) {
      so_far.closed.push_back(std::move(made));
      return answer(call, part, batch::concat(so_far.closed));
    }
    so_far.closed.push_back(finished_rows(made));
    so_far.redone = false;
    so_far.given = with_each_tag(made.take(left).without_tombstones(), [](row_tag& tag) { tag.unfinished = false; });
    if (!send_again(call, part, true))
      return give_up(call, part, located(call, part, {"", "", std::nullopt, "no worker is left to go on with its rows"}));
    return std::nullopt;
  } catch (const error& wrong) {
    return finish(call, located(call, part, {"", "", std::nullopt, wrong.what()}));
  }
}

std::optional<outcome> machine::failed(flight& call, std::size_t part, fault why, bool silent) {
  if (silent)
    call_back(call, part, why);
  const bool rows = rows_in(call.parts[part].given) != nullptr && rows_in(call.parts[part].given)->identified();
  if (!rows || (call.wanted.retries == 0 && call.wanted.failed == failing::ends_run))
    return fail_by(call, part, std::move(why));
  const std::vector<std::size_t> beside = parts_beside(call, part);
  // A replica's result is not needed where the one that counts is there.
  const bool counted = std::any_of(beside.begin(), beside.end(), [&](std::size_t at) {
    return call.answered[at] && !call.parts[at].replica;
  });
  if (counted)
    return answer(call, part, {});
  bool tried = false;
  for (const std::size_t at : beside) {
    progress& so_far = progress_of(call, at);
    if (at != part)
      call_back(call, at, why);
    if (call.answered[at])
      --call.answers;
    call.answered[at] = false;
    const std::vector<std::size_t> left = open_rows(*rows_in(so_far.given), so_far.closing);
    so_far.given = these_rows(so_far.given, left);
    std::move(so_far.closing.begin(), so_far.closing.end(), std::back_inserter(so_far.closed));
    so_far.closing.clear();
    so_far.redone = true;
    if (bury_gone(call, at, so_far))
      continue;  // it was not for its worker that it failed
    tried = tried || so_far.tries >= call.wanted.retries;
    ++so_far.tries;
  }
  const bool done = std::all_of(beside.begin(), beside.end(),
                                [&](std::size_t at) { return rows_in(call.begun.at(at).given)->empty(); });
  if (done || tried || !send_again(call, part))
    return give_up(call, part, std::move(why));
  setbacks_.push_back({std::move(why)});
  return std::nullopt;
}

outcome machine::fail_by(flight& call, std::size_t part, fault why) {
  call.answered[part] = true;
  return finish(call, std::move(why));
}

// Its rows are lost, each by name; where they may not be, so is the call.
std::optional<outcome> machine::give_up(flight& call, std::size_t part, fault why) {
  const std::vector<std::size_t> beside = parts_beside(call, part);
  std::size_t left = 0;
  for (const std::size_t at : beside)
    left += call.parts[at].replica ? 0 : rows_in(progress_of(call, at).given)->rows();
  if (call.wanted.failed == failing::ends_run && left > 0)
    return fail_by(call, part, std::move(why));
  setbacks_.push_back({why, left});
  std::optional<outcome> last;
  for (const std::size_t at : beside) {
    const progress& so_far = progress_of(call, at);
    std::vector<batch> parts = so_far.closed;
    parts.push_back((*rows_in(so_far.given))[{0, 0}]);  // where all are lost, it says that rows have identities
    for (const row_tag& tag : rows_in(so_far.given)->tags())
      parts.push_back(batch{}.with_tombstone({tag, "lost: " + to_string(why)}));
    if (!call.answered[at])
      last = answer(call, at, batch::concat(parts));
    if (last)
      break;
  }
  return last;
}

std::vector<redelivery> machine::take_again(std::int64_t version) {
  const auto sampled_now = [&](row_tag& tag) { tag.version = version; };
  for (redelivery& each : again_)
    for (flight& call : calls_)
      for (auto& [part, progress] : call.begun)
        if (progress.id == each.id && progress.redone && version >= 0) {
          change_tags(each.what.input, sampled_now);
          change_tags(progress.given, sampled_now);
        }
  return std::exchange(again_, {});
}

std::vector<recall> machine::take_recalls(time_point now) {
  for (overdue& each : overdue_)
    if (!each.until)
      each.until = now + patience;
  return std::exchange(recalls_, {});
}

// Whether a worker has something to do, or to leave, that came before this.
bool machine::busy_before(std::size_t worker, call_id id) const {
  for (const flight& call : calls_)
    for (std::size_t part = 0; part < call.parts.size(); ++part)
      if (!call.answered[part] && worker_of(call, part) == worker && id_of(call, part) < id)
        return true;
  return std::any_of(overdue_.begin(), overdue_.end(),
                     [&](const overdue& each) { return each.worker == worker && each.id < id; });
}

std::vector<machine::hung> machine::take_hung(time_point now) {
  std::vector<hung> found;
  for (overdue& each : overdue_)
    if (each.until && *each.until <= now) {
      if (busy_before(each.worker, each.id))
        each.until = now + patience;
      else
        found.push_back({each.worker, each.endpoint});
    }
  for (const hung& each : found)
    std::erase_if(overdue_, [&](const overdue& other) { return other.worker == each.worker; });
  return found;
}

}  // namespace twinkle::route
