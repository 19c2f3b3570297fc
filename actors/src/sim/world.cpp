// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "../runtime/shared_body.hpp"
#include "simulated_nodes.hpp"

namespace twinkle::sim {
namespace {

enum event : std::uint64_t { delivery, resumption, timer, misfortune };

std::uint64_t number(const address& of) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(of.stage)) << 32) | static_cast<std::uint32_t>(of.index);
}

}  // namespace

class world::body final : public body_seam, private gate {
 public:
  body(world& in, std::uint64_t number, std::size_t node)
      : world_(in), number_(number), node_(node), thread_([this] { world_.ready_.push_back(this); }) {
    world_.living_[number] = this;
  }

  ~body() override {
    const bool before = std::exchange(world_.muted_, true);
    thread_.unwind();
    world_.muted_ = before;
    std::erase(world_.ready_, this);
    std::erase(world_.held_up_, this);
    world_.living_.erase(number_);
  }

  void run(std::function<void()> job) override { thread_.give(std::move(job)); }
  [[nodiscard]] gate& blocking() override { return *this; }
  void abandon(std::shared_ptr<void>) override {}  // a job that blocks for ever is never resumed
  void resume() { thread_.resume(); }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] std::size_t node() const { return node_; }

 private:
  friend class world;

  void wait() override { thread_.wait(); }
  void wait_until(time_point when) override {
    // The timer may find the body gone, or in another wait, where one wake too many does no harm.
    world_.timers_.emplace(when, [&in = world_, number = number_] {
      if (const auto found = in.living_.find(number); found != in.living_.end())
        found->second->wake();
    });
    thread_.wait();
  }
  void wake() override { thread_.wake(); }

  world& world_;
  std::uint64_t number_;
  std::size_t node_;
  baton_thread thread_;
};

std::size_t world::pair_hash::operator()(const std::pair<address, address>& of) const {
  return static_cast<std::size_t>(mix(number(of.first) * 0x9e3779b97f4a7c15ULL + number(of.second)));
}

world::world(chooser_seam& chooser, terrain where, std::vector<observer*> observers)
    : chooser_(chooser),
      where_(std::move(where)),
      observers_(std::move(observers)),
      frozen_(where_.nodes, 0) {}

world::~world() { dismiss_all(); }

void world::dismiss_all() {
  muted_ = true;
  actors_.clear();
  loaded_.clear();
  held_back_.clear();
  links_.clear();
  held_late_.clear();
  muted_ = false;
  dismissed_ = true;
}

void world::post(const address& from, const address& to, message&& content) {
  if (muted_)
    return;
  if (const auto late = late_.find(static_cast<std::size_t>(to.stage));
      late != late_.end() && late->second > now_ && std::holds_alternative<msg::published>(content)) {
    const auto held = held_late_.insert(held_late_.end(), std::move(content));
    at(late->second, [this, from, to, held] {
      if (dismissed_)
        return;
      arrive(from, to, std::move(*held));
      held_late_.erase(held);
    });
    return;
  }
  if (nodes_ != nullptr)
    nodes_->post(from, to, std::move(content));
  else
    arrive(from, to, std::move(content));
}

void world::arrive(const address& from, const address& to, message&& content) {
  link& on = links_.try_emplace({from, to}, link{from, to}).first->second;
  on.waiting.push_back(std::move(content));
  if (on.waiting.size() == 1)
    offer(on);
}

void world::on(std::size_t node, std::function<void()> what) {
  const auto in_order = [node](const auto& each) { return each.first == node; };
  if (frozen(node) || std::any_of(held_off_.begin(), held_off_.end(), in_order))
    held_off_.emplace_back(node, std::move(what));
  else
    what();
}

void world::catch_up(std::size_t node) {
  for (auto next = held_off_.begin(); next != held_off_.end() && !frozen(node);)
    if (next->first == node) {
      const std::function<void()> what = std::move(next->second);
      what();
      next = held_off_.erase(next);
    } else {
      ++next;
    }
}

void world::delay_weights(std::size_t stage, time_point when) { late_[stage] = std::max(late_[stage], when); }

std::vector<observer::in_flight> world::undelivered() const {
  std::vector<observer::in_flight> all;
  for (const auto* among : {&loaded_, &held_back_})
    for (const link* each : *among)
      for (const message& content : each->waiting)
        all.push_back({each->from, each->to, &content});
  return all;
}

void world::wake(const address& who, time_point when) {
  timers_.emplace(std::max(when, now_), [this, who] { arrive(who, who, msg::tick{}); });
}

void world::at(time_point when, std::function<void()> what) { timers_.emplace(when, std::move(what)); }

void world::spawn(const address& who, std::unique_ptr<actor_role> role) {
  if (nodes_ != nullptr)
    nodes_->spawn(who);
  if (role != nullptr)
    house(who, std::move(role));
}

void world::house(const address& who, std::unique_ptr<actor_role> role) {
  forget_what_is_for(who);  // it was meant for the one before
  actors_[who] = std::move(role);
}

std::unique_ptr<body_seam> world::make(const std::string& name, bodies kind) {
  if (kind == bodies::shared)
    return std::make_unique<runtime::shared_body>(name);
  const auto home = where_.bodies.find(name);
  return std::make_unique<body>(*this, bodies_++, home == where_.bodies.end() ? 0 : home->second);
}

void world::kill(const address& who) {
  muted_ = true;
  actors_.erase(who);
  muted_ = false;
  forget_what_is_for(who);
}

void world::forget_what_is_for(const address& who) {
  for (auto* const among : {&loaded_, &held_back_})
    for (std::size_t at = among->size(); at-- > 0;)
      if (link& to = *(*among)[at]; to.to == who) {
        to.waiting.clear();
        if (among == &loaded_)
          withdraw(to);
        else
          among->erase(among->begin() + static_cast<std::ptrdiff_t>(at));
      }
}

void world::freeze(std::size_t node) { ++frozen_[node]; }

void world::thaw(std::size_t node) {
  if (--frozen_[node] > 0)
    return;
  for (link* const each : std::exchange(held_back_, {}))
    if (where_.node_of(each->to) == node)
      offer(*each);
    else
      held_back_.push_back(each);
  for (body* const each : std::exchange(held_up_, {}))
    (each->node() == node ? ready_ : held_up_).push_back(each);
  at(now_, [this, node] { catch_up(node); });
}

void world::tell(const mishap& what) {
  note(misfortune, digest{}.add(to_string(what)).value(), 0, 0);
  for (observer* each : observers_)
    each->on_mishap(now_, what);
}

void world::note(std::uint64_t kind, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  history_.add(kind).add(a).add(b).add(c).add(static_cast<std::uint64_t>(now_.count()));
  ++events_;
}

// What bodies made of their rows is part of what happened.
void world::note_step(const step_record& step) {
  history_.add(step.digest);
  for (const metric& each : step.values.items())
    history_.add(each.name).add(std::bit_cast<std::uint64_t>(each.value));
}

void world::offer(link& on) {
  on.place = loaded_.size();
  loaded_.push_back(&on);
}

void world::withdraw(link& on) {
  loaded_.back()->place = on.place;
  loaded_[on.place] = loaded_.back();
  loaded_.pop_back();
}

void world::deliver(link& on) {
  if (frozen_[where_.node_of(on.to)] > 0) {
    withdraw(on);
    held_back_.push_back(&on);
    return;
  }
  message content = std::move(on.waiting.front());
  on.waiting.pop_front();
  if (on.waiting.empty())
    withdraw(on);
  const address to = on.to;
  note(delivery, number(on.from), number(to), content.index());
  if (const auto* stepped = std::get_if<msg::stepped>(&content))
    note_step(stepped->record);
  if (std::holds_alternative<msg::rows>(content))
    moved_ = events_;
  for (observer* each : observers_)
    each->on_delivery(now_, on.from, to, content);
  if (const auto actor = actors_.find(to); actor != actors_.end())
    actor->second->receive(std::move(content));
}

void world::resume(body& which) {
  std::erase(ready_, &which);
  if (frozen_[which.node()] > 0) {
    held_up_.push_back(&which);
    return;
  }
  note(resumption, which.number(), 0, 0);
  which.resume();
}

bool world::fire(time_point end) {
  if (timers_.empty() || timers_.begin()->first > end)
    return false;
  if (timers_.begin()->first > now_) {
    now_ = timers_.begin()->first;
    moved_ = events_;
  }
  const std::function<void()> what = std::move(timers_.begin()->second);
  timers_.erase(timers_.begin());
  note(timer, 0, 0, 0);
  what();
  return true;
}

bool world::run(const std::function<bool()>& done, time_point end, std::size_t idle_max) {
  while (!done()) {
    if (events_ - moved_ > idle_max)
      return false;
    if (!timers_.empty() && timers_.begin()->first <= now_) {
      fire(now_);
      continue;
    }
    const std::size_t choices = loaded_.size() + ready_.size();
    if (choices == 0) {
      if (!fire(end))
        return false;
      continue;
    }
    const std::size_t choice = chooser_.choose(choices);
    if (choice < loaded_.size())
      deliver(*loaded_[choice]);
    else
      resume(*ready_[choice - loaded_.size()]);
  }
  return true;
}

}  // namespace twinkle::sim
