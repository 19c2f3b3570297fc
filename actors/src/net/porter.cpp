// SPDX-License-Identifier: Apache-2.0
#include "porter.hpp"

#include <algorithm>
#include <iterator>

#include "twinkle/base/error.hpp"
#include "twinkle/data/frame.hpp"

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
                         runs.back().into.data() + runs.back().into.size() == each.into.data() &&
                         runs.back().ranges.size() < frame_limits{}.ranges_max;
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

bool porter::item::ready() const {
  return std::all_of(of.begin(), of.end(), [](const auto& value) {
    return std::all_of(value.begin(), value.end(), [](const need& each) { return each.bytes->open == 0; });
  });
}

std::optional<buffer> porter::find(const buffer& of) const {
  if (of.far()->node != here_)
    return std::nullopt;
  const std::optional<buffer> kept = world_.find(of.far()->key);
  if (!kept || of.first() > kept->bytes() || of.bytes() > kept->bytes() - of.first())
    return std::nullopt;
  return kept->part(of.first(), of.bytes());
}

void porter::order(const address& to, item& next) try {
  if (!is_read(next.content))
    return;
  const std::vector<any_value> values = values_carried(next.content);
  if (std::none_of(values.begin(), values.end(), far))
    return;
  const shard_rule wanted = shares_(to, next.content);
  const auto here = [this](const buffer& of) { return find(of); };
  needs found;
  for (const any_value& each : values) {
    found.emplace_back();
    if (auto* const* rows = std::get_if<batch*>(&each))
      found.back().push_back(needed([&](const fetch_plan::blocks& into) { return fetch_plan{**rows, here, into}; }));
    else
      for (const weights& one : one_by_one(*std::get<weights*>(each)))
        found.back().push_back(
            needed([&](const fetch_plan::blocks& into) { return fetch_plan{one, here, wanted, here_, into}; }));
  }
  next.of = std::move(found);
  std::erase_if(under_way_, [](const auto& each) { return each.second.expired(); });
} catch (const std::exception& wrong) {
  next.failed = wrong.what();
} catch (...) {
  next.failed = "what says how its tensors are shared threw something that is no std::exception";
}

porter::signature porter::signature_of(const fetch_plan& plan) {
  const fetch_plan::blocks& memory = plan.memory();
  signature what{{memory.size()}};
  std::size_t block = 0;
  for (const fetch_plan::piece& each : plan.pieces()) {
    for (std::size_t at = block; at < memory.size(); ++at)
      if (memory[at].get() == each.into.data())
        block = at;
    what.push_back({block, each.from.far()->node, each.from.far()->key, each.from.first(), each.into.size()});
  }
  return what;
}

// Who needs the same bytes gets the same memory. The rest of a batch or a tensor, its tags, its name, is each one's own.
template <class Make>
porter::need porter::needed(const Make& plan_into) {
  need made{plan_into({}), std::make_shared<arrival>()};
  if (made.plan.pieces().empty())
    return made;
  const signature what = signature_of(made.plan);
  std::weak_ptr<arrival>& known = under_way_[what];
  if (auto there = known.lock(); there && !there->failed && made.plan.may_share())
    if (need same{plan_into(there->into), there}; signature_of(same.plan) == what)
      return same;
  made.bytes->into = made.plan.memory();
  if (made.plan.may_share())
    known = made.bytes;
  fetch_all(made.plan, made.bytes);
  return made;
}

void porter::fetch_all(const fetch_plan& plan, const std::shared_ptr<arrival>& into) {
  std::vector<run> all = runs_of(plan);
  into->open = all.size();
  for (run& each : all)
    try {
      world_.fetch(each.node, std::move(each.ranges), each.into, [this, into](std::optional<std::string> why) {
        const std::lock_guard lock(mutex_);
        if (why && !into->failed)
          into->failed = std::move(why);
        if (--into->open == 0)
          deliver_ready();
      });
    } catch (const error& refused) {
      into->failed = refused.what();
      --into->open;
    }
}

void porter::bring(const address& from, const address& to, message&& content) {
  const std::lock_guard lock(mutex_);
  if (closed_)
    return;
  item next{std::move(content), {}};
  order(to, next);
  const way between{from, to};
  const auto queue = waiting_.find(between);
  if (queue == waiting_.end() && next.ready())
    return deliver(between, std::move(next));
  waiting_[between].push_back(std::move(next));
}

void porter::deliver_ready() {
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    std::deque<item>& queue = at->second;
    while (!queue.empty() && queue.front().ready()) {
      item next = std::move(queue.front());
      queue.pop_front();
      if (!closed_)
        deliver(at->first, std::move(next));
    }
    at = queue.empty() ? waiting_.erase(at) : std::next(at);
  }
}

void porter::put(message& into, const needs& what) {
  if (what.empty())
    return;
  auto next = what.begin();
  for (const any_value& each : values_carried(into)) {
    if (auto* const* rows = std::get_if<batch*>(&each)) {
      **rows = next->front().plan.rows();
    } else {
      std::vector<named_tensor> all;
      for (const need& one : *next) {
        const weights tensors = one.plan.tensors();
        all.insert(all.end(), tensors.tensors().begin(), tensors.tensors().end());
      }
      weights& tensors = *std::get<weights*>(each);
      tensors = weights{std::move(all), tensors.version()};
    }
    ++next;
  }
}

void porter::deliver(const way& between, item&& next) {
  const auto& [from, to] = between;
  std::optional<std::string> failed = next.failed;
  for (const auto& value : next.of)
    for (const auto& each : value)
      if (!failed)
        failed = each.bytes->failed;
  if (const auto unfit = unfit_.find(to); unfit != unfit_.end() && std::holds_alternative<msg::task>(next.content))
    failed = unfit->second;
  try {
    if (!failed)
      put(next.content, next.of);
    if (auto* task = std::get_if<msg::task>(&next.content); task != nullptr && !failed)
      gather(to, *task);
  } catch (const error& wrong) {
    failed = wrong.what();
  }
  if (failed) {
    if (!fail_(to, std::move(next.content), *failed))
      unfit_.emplace(to, *failed);
    return;
  }
  world_.deliver(from, to, std::move(next.content));
}

// What a worker is to have stays here until the task comes that it is for; others may come before it.
void porter::gather(const address& to, msg::task& task) {
  using kind = msg::task::kind;
  if (task.what == kind::gather) {
    gathered_.insert_or_assign(to, task);
    task.input = {};
    task.micro_batches = nullptr;
  } else if (task.what != kind::run) {
    gathered_.erase(to);
  } else if (task.gathered) {
    const auto found = gathered_.find(to);
    if (found == gathered_.end() || found->second.call != *task.gathered)
      throw error("what was gathered for it in call " + std::to_string(*task.gathered) + " is not here");
    task.input = std::move(found->second.input);
    task.micro_batches = std::move(found->second.micro_batches);
    gathered_.erase(found);
  }
}

void porter::forget(const address& who) {
  std::vector<std::deque<item>> gone;  // whose last rows may be released: not under the lock
  std::map<address, msg::task>::node_type kept;
  const std::lock_guard lock(mutex_);
  unfit_.erase(who);
  kept = gathered_.extract(who);
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
  gathered_.clear();
}

}  // namespace twinkle::net
