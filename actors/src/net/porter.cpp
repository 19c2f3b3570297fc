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

bool porter::item::is_here() const {
  return std::all_of(of.begin(), of.end(), [](const auto& value) {
    return std::all_of(value.begin(), value.end(), [](const need& each) { return each.bytes->open == 0; });
  });
}

bool porter::item::copies() const {
  return std::any_of(of.begin(), of.end(), [](const auto& value) {
    return std::any_of(value.begin(), value.end(), [](const need& each) { return each.plan.copies(); });
  });
}

// The values of its message, in place of the descriptions.
void porter::item::put() try {
  auto next = of.begin();
  for (const any_value& each : values_carried(content)) {
    if (auto* const* rows = std::get_if<batch*>(&each)) {
      **rows = next->front().plan.rows();
    } else {
      std::vector<named_tensor> all;
      for (need& one : *next) {
        const weights tensors = one.plan.tensors();
        all.insert(all.end(), tensors.tensors().begin(), tensors.tensors().end());
      }
      weights& tensors = *std::get<weights*>(each);
      tensors = weights{std::move(all), tensors.version()};
    }
    ++next;
  }
} catch (const std::exception& wrong) {
  failed = wrong.what();
}

std::shared_ptr<porter::arrival> porter::known::find() const {
  if (auto there = bytes.lock())
    return there;
  auto whole = std::make_shared<arrival>();
  for (const auto& each : blocks)
    if (auto block = each.lock())
      whole->into.push_back(std::move(block));
  return !blocks.empty() && whole->into.size() == blocks.size() ? whole : nullptr;
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
  if (known_.size() < sweep_known_at_)
    return;
  std::erase_if(known_, [](const auto& each) { return each.second.find() == nullptr; });
  sweep_known_at_ = 2 * known_.size() + 16;
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
  made.bytes->into = made.plan.memory();
  if (!made.plan.may_share()) {
    fetch_all(made.plan, made.bytes);
    return made;
  }
  const signature what = signature_of(made.plan);
  known& before = known_[what];
  if (const auto there = before.find(); there && !there->failed)
    if (need same{plan_into(there->into), there}; signature_of(same.plan) == what)
      return same;
  before = {{made.bytes->into.begin(), made.bytes->into.end()}, made.bytes};
  fetch_all(made.plan, made.bytes);
  if (made.bytes->failed)
    known_.erase(what);
  return made;
}

void porter::fetch_all(const fetch_plan& plan, const std::shared_ptr<arrival>& into) {
  std::vector<run> all = runs_of(plan);
  into->open = all.size();
  for (run& each : all)
    try {
      world_.fetch(each.node, std::move(each.ranges), each.into,
                   [this, into](std::optional<std::string> why) { arrived(into, std::move(why)); });
    } catch (const error& refused) {
      into->failed = refused.what();
      --into->open;
    }
}

void porter::arrived(const std::shared_ptr<arrival>& what, std::optional<std::string> why) {
  chores then;
  {
    const std::lock_guard lock(mutex_);
    if (why && !what->failed) {
      what->failed = std::move(why);
      std::erase_if(known_, [&](const auto& each) { return each.second.bytes.lock() == what; });
    }
    if (--what->open == 0)
      deliver_ready(then);
  }
  put_aside(std::move(then));
}

void porter::bring(const address& from, const address& to, message&& content) {
  chores then;
  {
    const std::lock_guard lock(mutex_);
    if (closed_)
      return;
    const auto next = std::make_shared<item>(item{std::move(content)});
    order(to, *next);
    const way between{from, to};
    const auto queue = waiting_.find(between);
    if (is_ready(next, then) && queue == waiting_.end())
      return deliver(between, *next);
    waiting_[between].push_back(next);
  }
  put_aside(std::move(then));
}

bool porter::is_ready(const std::shared_ptr<item>& next, chores& then) {
  if (next->now == item::state::on_its_way && next->is_here()) {
    for (const auto& value : next->of)
      for (const need& each : value)
        if (!next->failed)
          next->failed = each.bytes->failed;
    const bool aside = !next->failed && next->copies();
    next->now = aside ? item::state::put_aside : item::state::ready;
    if (aside)
      then.emplace_back([this, next] { finish(next); });
    else if (!next->failed && !next->of.empty())
      next->put();
  }
  return next->now == item::state::ready;
}

void porter::finish(const std::shared_ptr<item>& next) {
  next->put();
  chores then;
  {
    const std::lock_guard lock(mutex_);
    next->now = item::state::ready;
    deliver_ready(then);
  }
  put_aside(std::move(then));
}

// Whoever brings what was fetched has others to hear.
void porter::put_aside(chores&& then) {
  for (std::function<void()>& each : then)
    world_.aside(std::move(each));
}

void porter::deliver_ready(chores& then) {
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    std::deque<std::shared_ptr<item>>& queue = at->second;
    for (const auto& each : queue)
      static_cast<void>(is_ready(each, then));
    while (!queue.empty() && queue.front()->now == item::state::ready) {
      const auto next = std::move(queue.front());
      queue.pop_front();
      if (!closed_)
        deliver(at->first, *next);
    }
    at = queue.empty() ? waiting_.erase(at) : std::next(at);
  }
}

void porter::deliver(const way& between, item& next) {
  const auto& [from, to] = between;
  std::optional<std::string> failed = next.failed;
  if (const auto unfit = unfit_.find(to); unfit != unfit_.end() && std::holds_alternative<msg::task>(next.content))
    failed = unfit->second;
  try {
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
  std::vector<std::deque<std::shared_ptr<item>>> gone;  // whose last rows may be released: not under the lock
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
