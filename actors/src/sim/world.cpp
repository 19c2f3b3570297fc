// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include <algorithm>

#include "../runtime/shared_body.hpp"

namespace twinkle::sim {
namespace {

enum event : std::uint64_t { delivery, resumption, timer };

std::uint64_t number(const address& of) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(of.stage)) << 32) | static_cast<std::uint32_t>(of.index);
}

}  // namespace

class world::body final : public body_seam, private gate {
 public:
  body(world& in, std::uint64_t number)
      : world_(in), number_(number), thread_([this] { world_.ready_.push_back(this); }) {
    world_.living_[number] = this;
  }

  ~body() override {
    std::erase(world_.ready_, this);
    world_.living_.erase(number_);
  }

  void run(std::function<void()> job) override { thread_.give(std::move(job)); }
  [[nodiscard]] gate& blocking() override { return *this; }
  void abandon(std::shared_ptr<void>) override {}  // a job that blocks for ever is never resumed
  void resume() { thread_.resume(); }
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
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
  baton_thread thread_;
};

world::~world() { actors_.clear(); }

void world::wake(const address& who, time_point when) {
  timers_.emplace(std::max(when, now_), [this, who] { post(who, who, msg::tick{}); });
}

void world::at(time_point when, std::function<void()> what) { timers_.emplace(when, std::move(what)); }

void world::post(const address& from, const address& to, message&& content) {
  link& on = links_.try_emplace({from, to}, link{from, to}).first->second;
  if (on.waiting.empty())
    loaded_.push_back(&on);
  on.waiting.push_back(std::move(content));
}

void world::spawn(const address& who, std::unique_ptr<actor_role> role) { actors_[who] = std::move(role); }

std::unique_ptr<body_seam> world::make(const std::string& name, bodies kind) {
  if (kind == bodies::shared)
    return std::make_unique<runtime::shared_body>(name);
  return std::make_unique<body>(*this, bodies_++);
}

void world::note(std::uint64_t kind, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  history_.add(kind).add(a).add(b).add(c).add(static_cast<std::uint64_t>(now_.count()));
  ++events_;
}

void world::deliver(link& on) {
  message content = std::move(on.waiting.front());
  on.waiting.pop_front();
  if (on.waiting.empty())
    std::erase(loaded_, &on);
  note(delivery, number(on.from), number(on.to), content.index());
  for (observer* each : observers_)
    each->on_delivery(now_, on.from, on.to, content);
  if (const auto actor = actors_.find(on.to); actor != actors_.end())
    actor->second->receive(std::move(content));
}

void world::resume(body& which) {
  std::erase(ready_, &which);
  note(resumption, which.number(), 0, 0);
  which.resume();
}

bool world::fire(time_point end) {
  if (timers_.empty() || timers_.begin()->first > end)
    return false;
  now_ = std::max(now_, timers_.begin()->first);
  const std::function<void()> what = std::move(timers_.begin()->second);
  timers_.erase(timers_.begin());
  note(timer, 0, 0, 0);
  what();
  return true;
}

bool world::run(const std::function<bool()>& done, time_point end) {
  while (!done()) {
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
