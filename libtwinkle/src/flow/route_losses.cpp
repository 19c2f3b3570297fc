// SPDX-License-Identifier: Apache-2.0
// What becomes of calls when workers are gone, and nodes with the rows that they kept.
#include "twinkle/data/fetch_plan.hpp"
#include "twinkle/flow/route.hpp"

namespace twinkle::route {

machine::left_of machine::without_gone(const read_list& reads, const batch& rows) const {
  left_of left{rows};
  for (const lost_node& each : nodes_lost_) {
    const std::vector<std::size_t> gone = rows_gone(read_by(reads, left.rows), [&](const far_bytes& where) {
      return where.node == each.node && where.life() == each.life;
    });
    if (gone.empty())
      continue;
    left.rows = left.rows.drop(gone, "lost: " + each.cause);
    left.gone += gone.size();
    left.cause = each.cause;
  }
  return left;
}

// What is gone with its node of a part that failed, nobody has to try again.
bool machine::bury_gone(const flight& call, std::size_t part, progress& so_far) {
  const auto* rows = std::get_if<batch>(&so_far.given);
  if (!call.wanted.may_lose || rows == nullptr)
    return false;
  left_of left = without_gone(call.wanted.reads, *rows);
  if (left.gone == 0)
    return false;
  for (tombstone& each : left.rows.tombstones())
    so_far.closed.push_back(batch{}.with_tombstone(std::move(each)));
  so_far.given = left.rows.without_tombstones();
  if (!call.parts[part].replica)
    setbacks_.push_back({located(call, part, {"", "", std::nullopt, std::move(left.cause)}), left.gone});
  return true;
}

// What those who are gone would have had: left out where they are spared, else for others to take.
std::optional<fault> machine::set_gone_aside(flight& begun) {
  for (std::size_t at = 0; at < begun.parts.size();) {
    const std::size_t worker = begun.parts[at].worker;
    const bool away = gone(worker);
    if (away && begun.wanted.spares_lost) {
      begun.parts.erase(begun.parts.begin() + static_cast<std::ptrdiff_t>(at));
      begun.answered.pop_back();
      continue;
    }
    if (away && begun.wanted.retries == 0 && begun.wanted.failed == failing::ends_run)
      return located(begun, at, {"", "", std::nullopt, why_gone_[worker]});
    ++at;
  }
  for (std::size_t at = 0; at < begun.parts.size(); ++at)
    if (gone(begun.parts[at].worker))
      for (const std::size_t beside : parts_beside(begun, at))
        progress_of(begun, beside).worker = std::nullopt;
  return std::nullopt;
}

std::vector<outcome> machine::lose(std::size_t worker, const std::string& cause, bool returns) {
  gone_[worker] = returns ? presence::returns : presence::gone;
  why_gone_[worker] = cause;
  std::erase_if(overdue_, [&](const overdue& each) { return each.worker == worker; });
  std::vector<std::pair<call_id, call_id>> had;  // call, id
  for (flight& call : calls_) {
    if (call.wanted.spares_lost)
      for (std::size_t at = call.parts.size(); at > 0; --at)
        if (call.parts[at - 1].worker == worker && !call.answered[at - 1]) {
          call.parts.erase(call.parts.begin() + static_cast<std::ptrdiff_t>(at - 1));
          call.answered.erase(call.answered.begin() + static_cast<std::ptrdiff_t>(at - 1));
        }
    for (std::size_t at = 0; at < call.parts.size(); ++at)
      if (!call.answered[at] && worker_of(call, at) == worker)
        had.emplace_back(call.id, id_of(call, at));
  }
  std::vector<outcome> ended;
  for (std::size_t at = 0; at < calls_.size();)
    if (calls_[at].wanted.spares_lost && calls_[at].answers == calls_[at].parts.size())
      ended.push_back(finish(calls_[at], calls_[at].parts.empty() ? collected{payload{}}
                                                                  : rule_(workers_, calls_[at].wanted, calls_[at].parts)));
    else
      ++at;
  for (const auto& [call, id] : had)
    if (const auto open = open_part(worker, id); open && calls_[open->call].id == call) {
      flight& of = calls_[open->call];
      if (auto last = failed(of, open->part, located(of, open->part, {"", "", std::nullopt, cause})))
        ended.push_back(std::move(*last));
    }
  give_out_waiting(ended);
  return ended;
}

std::vector<outcome> machine::regain(std::size_t worker) {
  gone_[worker] = presence::here;
  std::vector<outcome> ended;
  give_out_waiting(ended);
  return ended;
}

// Parts that nobody could take: to whoever can now, or given up where nobody ever will.
void machine::give_out_waiting(std::vector<outcome>& ended) {
  for (std::size_t at = 0; at < calls_.size();) {
    flight& call = calls_[at];
    std::optional<outcome> last;
    for (const auto& [part, progress] : call.begun) {
      if (call.answered[part] || progress.worker || send_again(call, part))
        continue;
      last = give_up(call, part, located(call, part, {"", "", std::nullopt, why_gone_[call.parts[part].worker]}));
      if (last)
        break;
    }
    if (last)
      ended.push_back(std::move(*last));  // and the call is not there any more
    else
      ++at;
  }
}

}  // namespace twinkle::route
