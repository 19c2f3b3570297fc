// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <caf/all.hpp>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "twinkle/flow/context.hpp"
#include "twinkle/interop/caf.hpp"

/// An application that uses CAF itself, and a pipeline that stays alive until it is told to end.
namespace app {

inline constexpr twinkle::column<std::int64_t> number{"number"};

/// Closed at first.
class valve {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void await_waiting() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  std::size_t waiting_ = 0;
};

/// Emits nothing: it keeps the run alive until the valve opens or, without one, until the run is given up.
struct holder {
  explicit holder(std::shared_ptr<valve> end_) : end(std::move(end_)) {}
  std::optional<twinkle::batch> next(twinkle::context& ctx) {
    if (end)
      end->pass();
    else
      ctx.sleep_for(std::chrono::hours(24));
    return std::nullopt;
  }
  std::shared_ptr<valve> end;
};

struct doubler {
  explicit doubler(std::shared_ptr<valve> slow_) : slow(std::move(slow_)) {}
  twinkle::batch twice(twinkle::context&, twinkle::batch rows) {
    const auto values = rows[number];
    if (slow && std::count(values.begin(), values.end(), 13) > 0)
      slow->pass();
    std::vector<std::int64_t> doubled;
    for (const std::int64_t value : values)
      doubled.push_back(2 * value);
    return rows.with(number, std::move(doubled));
  }
  twinkle::weights state(twinkle::context&) { return {}; }
  void load(twinkle::context&, twinkle::weights) {}
  std::shared_ptr<valve> slow;
};

struct shape {
  std::shared_ptr<valve> end = nullptr;
  std::shared_ptr<valve> slow = nullptr;
};

inline twinkle::graph pipeline(const shape& of) {
  twinkle::graph g{"doubling"};
  const twinkle::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
  const twinkle::device_group two{.name = "two", .ranks = 2};
  auto source = g.spawn<holder>("source", {host}, of.end);
  auto doublers = g.spawn<doubler>("doubler", {two}, of.slow);
  auto again = g.spawn<doubler>("again", {host}, of.slow);
  auto once = source.emits(&holder::next, {.name = "next", .rows = 2}).to(doublers, &doubler::twice, {.name = "twice"});
  static_cast<void>(once.to(again, &doubler::twice, {.name = "twice"}));
  again.publishes(&doubler::state, {.after = &doubler::twice, .name = "state"})
      .to(doublers, &doubler::load, {.name = "load"});
  return g;
}

inline twinkle::batch numbers(std::vector<std::int64_t> values) { return twinkle::batch{}.with(number, std::move(values)); }

/// What a request came to: a CAF error as text, or the answer.
using answered = std::variant<std::string, twinkle::interop::answer>;

/// An application's actor system, its configuration left alone but for the number of threads.
struct application {
  explicit application(std::size_t threads = 2) {
    config.set("scheduler.max-threads", threads);
    system = std::make_unique<caf::actor_system>(config);
  }
  [[nodiscard]] twinkle::run_options options() const {
    twinkle::run_options made;
    made.system = system.get();
    return made;
  }
  /// Asks from outside of any actor.
  [[nodiscard]] answered ask(const caf::actor& router, twinkle::interop::call what) const {
    answered got;
    caf::scoped_actor self{*system};
    self->request(router, caf::infinite, std::move(what))
        .receive([&](twinkle::interop::answer& value) { got = std::move(value); },
                 [&](caf::error& why) { got = system->render(why); });
    return got;
  }

  caf::actor_system_config config;
  std::unique_ptr<caf::actor_system> system;
};

inline std::vector<std::int64_t> numbers_in(const answered& got) {
  const auto& answer = std::get<twinkle::interop::answer>(got);
  if (!answer.value)
    FAIL(twinkle::to_string(answer.value.failure()));
  const auto& rows = std::get<twinkle::batch>(std::get<twinkle::payload>(answer.value.value()));
  const auto values = rows[number];
  return {values.begin(), values.end()};
}

inline std::string fault_in(const answered& got) {
  const auto& answer = std::get<twinkle::interop::answer>(got);
  return answer.value ? "" : twinkle::to_string(answer.value.failure());
}

using longs = std::vector<std::int64_t>;

}  // namespace app
