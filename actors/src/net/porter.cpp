// SPDX-License-Identifier: Apache-2.0
#include "porter.hpp"

#include <algorithm>
#include <iterator>

#include "twinkle/base/error.hpp"

namespace twinkle::net {
namespace {

using any_value = std::variant<batch*, weights*>;

void add_values(payload& of, std::vector<any_value>& all) {
  if (auto* rows = std::get_if<batch>(&of))
    all.emplace_back(rows);
  else if (auto* tensors = std::get_if<weights>(&of))
    all.emplace_back(tensors);
  else if (auto* several = std::get_if<arguments>(&of))
    for (batch& each : several->batches)
      all.emplace_back(&each);
}

bool far(const any_value& of) {
  return std::visit([](const auto* value) { return is_far(*value); }, of);
}

// The bytes that follow each other in the end and come from one node: one fetch.
struct run {
  std::size_t node = 0;
  std::vector<bulk_range> ranges;
  std::span<std::byte> into;
};

std::vector<run> runs_of(const fetch_plan& plan) {
  std::vector<run> runs;
  for (const fetch_plan::piece& each : plan.pieces()) {
    const far_bytes& where = *each.from.far();
    const bool goes_on = !runs.empty() && runs.back().node == where.node &&
                         runs.back().into.data() + runs.back().into.size() == each.into.data();
    if (!goes_on)
      runs.push_back({where.node, {}, {each.into.data(), 0}});
    runs.back().ranges.push_back({where.key, each.from.first(), each.into.size()});
    runs.back().into = {runs.back().into.data(), runs.back().into.size() + each.into.size()};
  }
  return runs;
}

}  // namespace

std::vector<any_value> values_carried(message& content) {
  std::vector<any_value> all;
  if (auto* task = std::get_if<msg::task>(&content)) {
    add_values(task->input, all);
  } else if (auto* some = std::get_if<msg::emitted>(&content)) {
    all.emplace_back(&some->rows);
  } else if (auto* reply = std::get_if<msg::reply>(&content)) {
    if (reply->value)
      add_values(reply->value.value(), all);
  } else if (auto* made = std::get_if<msg::newest>(&content)) {
    all.emplace_back(&made->value);
  } else if (auto* saved = std::get_if<msg::saved>(&content)) {
    const auto own = std::make_shared<checkpoint>(*saved->value);
    saved->value = own;
    all.emplace_back(&own->state);
    for (checkpoint::published& each : own->versions)
      all.emplace_back(&each.value);
  } else if (auto* answer = std::get_if<msg::answer>(&content)) {
    if (!answer->value)
      return all;
    if (auto* one = std::get_if<payload>(&answer->value.value()))
      add_values(*one, all);
    else
      for (payload& each : std::get<std::vector<payload>>(answer->value.value()))
        add_values(each, all);
  }
  return all;
}

bool is_read(const message& content) {
  return std::holds_alternative<msg::task>(content) || std::holds_alternative<msg::answer>(content) ||
         std::holds_alternative<msg::newest>(content) || std::holds_alternative<msg::saved>(content);
}

std::shared_ptr<porter::arrival> porter::order(message& content) {
  if (!is_read(content))
    return nullptr;
  std::vector<any_value> values = values_carried(content);
  if (std::none_of(values.begin(), values.end(), far))
    return nullptr;
  const auto find = [&](const buffer& of) -> std::optional<buffer> {
    if (of.far()->node != here_)
      return std::nullopt;
    const std::optional<buffer> kept = world_.find(of.far()->key);
    if (!kept || of.first() > kept->bytes() || of.bytes() > kept->bytes() - of.first())
      return std::nullopt;
    return kept->part(of.first(), of.bytes());
  };
  auto made = std::make_shared<arrival>();
  signature pieces;
  for (const any_value& each : values) {
    made->plans.push_back(std::visit([&](auto* value) { return fetch_plan{*value, find}; }, each));
    for (const fetch_plan::piece& piece : made->plans.back().pieces())
      pieces.push_back({piece.from.far()->node, piece.from.far()->key, piece.from.first(), piece.into.size()});
  }
  if (pieces.empty())
    return made;
  std::weak_ptr<arrival>& known = under_way_[pieces];
  if (auto there = known.lock(); there && !there->failed)
    return there;
  known = made;
  fetch_all(made);
  std::erase_if(under_way_, [](const auto& each) { return each.second.expired(); });
  return made;
}

void porter::fetch_all(const std::shared_ptr<arrival>& of) {
  std::vector<run> all;
  for (const fetch_plan& plan : of->plans) {
    std::vector<run> some = runs_of(plan);
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  of->open = all.size();
  for (run& each : all)
    try {
      world_.fetch(each.node, std::move(each.ranges), each.into, [this, of](std::optional<std::string> why) {
        const std::lock_guard lock(mutex_);
        if (why && !of->failed)
          of->failed = std::move(why);
        if (--of->open == 0)
          deliver_ready();
      });
    } catch (const error& refused) {
      of->failed = refused.what();
      --of->open;
    }
}

void porter::bring(const address& from, const address& to, message&& content) {
  const std::lock_guard lock(mutex_);
  if (closed_)
    return;
  item next{std::move(content), nullptr};
  next.rows = order(next.content);
  const way between{from, to};
  const auto queue = waiting_.find(between);
  if (queue == waiting_.end() && (!next.rows || next.rows->open == 0))
    return deliver(between, std::move(next));
  waiting_[between].push_back(std::move(next));
}

void porter::deliver_ready() {
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    std::deque<item>& queue = at->second;
    while (!queue.empty() && (!queue.front().rows || queue.front().rows->open == 0)) {
      item next = std::move(queue.front());
      queue.pop_front();
      if (!closed_)
        deliver(at->first, std::move(next));
    }
    at = queue.empty() ? waiting_.erase(at) : std::next(at);
  }
}

void porter::deliver(const way& between, item&& next) {
  const auto& [from, to] = between;
  std::optional<std::string> failed = next.rows ? next.rows->failed : std::nullopt;
  if (const auto unfit = unfit_.find(to); unfit != unfit_.end() && std::holds_alternative<msg::task>(next.content))
    failed = unfit->second;
  if (failed) {
    if (!fail_(to, std::move(next.content), *failed))
      unfit_.emplace(to, *failed);
    return;
  }
  if (next.rows) {
    std::size_t at = 0;
    for (const any_value& each : values_carried(next.content)) {
      const fetch_plan& plan = next.rows->plans[at++];
      if (auto* const* rows = std::get_if<batch*>(&each))
        **rows = plan.rows();
      else
        *std::get<weights*>(each) = plan.tensors();
    }
  }
  world_.deliver(from, to, std::move(next.content));
}

void porter::forget(const address& who) {
  std::vector<std::deque<item>> gone;  // whose last rows may be released: not under the lock
  const std::lock_guard lock(mutex_);
  unfit_.erase(who);
  for (auto at = waiting_.begin(); at != waiting_.end();)
    if (at->first.second == who) {
      gone.push_back(std::move(at->second));
      at = waiting_.erase(at);
    } else {
      ++at;
    }
}

void porter::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  waiting_.clear();
}

}  // namespace twinkle::net
