// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/client_calls.hpp"

#include <algorithm>

namespace twinkle {
namespace {

client_calls::key key_of(const msg::call& wanted) { return {wanted.client, wanted.id}; }

// The one batch that a call came to.
result<batch> batch_of(const result<collected>& outcome) {
  if (!outcome)
    return outcome.failure();
  const auto* one = std::get_if<payload>(&outcome.value());
  const auto* rows = one == nullptr ? nullptr : std::get_if<batch>(one);
  if (rows == nullptr)
    return fault{"", "", std::nullopt, "a call was given the outcome of another as a batch, and it is no batch"};
  return *rows;
}

void put(payload& input, std::size_t position, batch rows) {
  if (auto* several = std::get_if<arguments>(&input))
    several->batches.at(position) = std::move(rows);
  else
    input = std::move(rows);
}

}  // namespace

void client_calls::add(msg::call wanted) {
  held_[key_of(wanted)].kept = wanted.kept;
  const key of = key_of(wanted);
  const std::size_t missing = wanted.awaits.size();
  waiting_.push_back({std::move(wanted), missing});
  for (auto early = early_.find(of); early != early_.end(); early = early_.find(of))
    arrived(std::move(early_.extract(early).mapped()));
}

void client_calls::arrived(msg::claimed outcome) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), [&](const waiting& each) {
    return key_of(each.wanted) == key{outcome.client, outcome.by};
  });
  if (found == waiting_.end()) {
    // The call is still on its way from its client; if it was withdrawn, nobody asks any more.
    if (const key of{outcome.client, outcome.by}; !held_.contains(of))
      early_.emplace(of, std::move(outcome));
    return;
  }
  --found->missing;
  auto rows = batch_of(outcome.value);
  if (rows)
    put(found->wanted.how.input, outcome.position, std::move(rows).value());
  else if (!found->failed)
    found->failed = rows.failure();
}

std::optional<msg::call> client_calls::next(outbox& out) {
  while (!waiting_.empty()) {
    waiting& first = waiting_.front();
    if (first.failed) {
      settle(key_of(first.wanted), *first.failed, out);
    } else if (first.missing > 0) {
      return std::nullopt;
    } else {
      std::optional<msg::call> ready = std::move(first.wanted);
      waiting_.pop_front();
      return ready;
    }
    waiting_.pop_front();
  }
  return std::nullopt;
}

void client_calls::hand_over(const msg::claim& to, const result<collected>& value, outbox& out) {
  if (to.router)
    out.push_back({*to.router, msg::claimed{to.by, to.client, to.position, value}});
  else
    out.push_back({to.client, msg::answer{to.id, value}});
}

void client_calls::settle(const key& of, result<collected> value, outbox& out) {
  const auto found = held_.find(of);
  if (found == held_.end() || found->second.value)
    return;
  if (!found->second.kept) {
    out.push_back({of.first, msg::answer{of.second, std::move(value)}});
    held_.erase(found);
    return;
  }
  for (const msg::claim& each : found->second.claims)
    hand_over(each, value, out);
  found->second.claims.clear();
  if (found->second.forgotten)
    held_.erase(found);
  else
    found->second.value = std::move(value);
}

void client_calls::claim(const msg::claim& by, outbox& out) {
  const auto found = held_.find({by.client, by.id});
  if (found == held_.end())
    hand_over(by, fault{"", "", std::nullopt, "the outcome of a call was asked for that is not there"}, out);
  else if (found->second.value)
    hand_over(by, *found->second.value, out);
  else
    found->second.claims.push_back(by);
}

void client_calls::forget(const msg::forget& what) {
  const auto found = held_.find({what.client, what.id});
  if (found == held_.end())
    return;
  if (found->second.value)
    held_.erase(found);
  else
    found->second.forgotten = true;
}

bool client_calls::withdraw(const key& of, const fault& why, outbox& out) {
  const auto found =
      std::find_if(waiting_.begin(), waiting_.end(), [&](const waiting& each) { return key_of(each.wanted) == of; });
  if (found == waiting_.end())
    return false;
  waiting_.erase(found);
  settle(of, why, out);
  return true;
}

void client_calls::give_up(const fault& why, outbox& out) {
  while (!waiting_.empty())
    withdraw(key_of(waiting_.front().wanted), why, out);
}

}  // namespace twinkle
