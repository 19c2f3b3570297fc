// SPDX-License-Identifier: Apache-2.0
#include "caf_world.hpp"

#include <caf/all.hpp>
#include <exception>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "caf_curtain.hpp"
#include "twinkle/base/ensure.hpp"

namespace twinkle::runtime {
namespace {

// Where the actor that runs on this thread may queue what it wakes; null on threads that are none of a scheduler's.
thread_local caf::execution_unit* current_unit = nullptr;

/// A role, and the lock under which its actor plays it where the role may be taken away.
struct part {
  std::unique_ptr<actor_role> role;
  bool may_be_taken = false;
  std::mutex mutex = {};
};

class host final : public caf::event_based_actor {
 public:
  host(caf::actor_config& config, std::shared_ptr<part> plays, std::shared_ptr<census> alive)
      : caf::event_based_actor(config), part_(std::move(plays)), alive_(std::move(alive)) {
    alive_->enter();
  }

  caf::behavior make_behavior() override {
    return {[this](message& arrived) {
              current_unit = context();
              receive(std::move(arrived));
              current_unit = nullptr;
            },
            [this](recast& to) { drop_role(std::move(*to.role)); },
            [this](curtain) { quit(); }};
  }

  // However it ends: the curtain fell, or a scheduler that stops swept it away.
  bool cleanup(caf::error&& why, caf::execution_unit* unit) override {
    const bool first = caf::event_based_actor::cleanup(std::move(why), unit);
    if (alive_) {
      drop_role();
      std::exchange(alive_, nullptr)->leave();
    }
    return first;
  }

 private:
  void receive(message&& content) {
    std::unique_lock lock(part_->mutex, std::defer_lock);
    if (part_->may_be_taken)
      lock.lock();
    if (part_->role)
      deliver(*part_->role, std::move(content));
  }

  void drop_role(std::unique_ptr<actor_role> next = nullptr) {
    const std::lock_guard lock(part_->mutex);
    next.swap(part_->role);
  }

  std::shared_ptr<part> part_;
  std::shared_ptr<census> alive_;
};

caf::actor_system_config& tuned(caf::actor_system_config& config) {
  // Idle workers of the scheduler poll with sleeps of 50 us by default, which costs 110 us a wake-up.
  config.set("work-stealing.moderate-poll-attempts", std::size_t{0});
  // Polling without sleep for some tens of microseconds spares a small call the wake-up of a sleeping thread.
  config.set("work-stealing.aggressive-poll-attempts", std::size_t{600});
  // One busy actor must not keep the others of its thread waiting.
  config.set("scheduler.max-throughput", std::size_t{50});
  config.set("scheduler.max-threads", std::size_t{2});
  return config;
}

struct own_system {
  caf::actor_system_config config;
  caf::actor_system actors{tuned(config)};
};

}  // namespace

void deliver(actor_role& role, message&& content) {
  try {
    role.receive(std::move(content));
  } catch (const std::exception& escaped) {
    broken_invariant(std::string("no actor lets an exception out: ") + escaped.what(),
                     std::source_location::current());
  }
}

// Filled before the first message is posted, and only read from then on.
struct caf_world::system {
  std::unique_ptr<own_system> own;  // null in a user's
  caf::actor_system& actors;
  std::map<std::int32_t, std::vector<caf::actor>> stages = {};  // by index + 1, so that routers come first
  std::map<address, std::shared_ptr<part>> parts = {};          // in a user's
  std::shared_ptr<census> alive = std::make_shared<census>();

  [[nodiscard]] const caf::actor* find(const address& who) const {
    const auto stage = stages.find(who.stage);
    const auto index = static_cast<std::size_t>(who.index + 1);
    if (stage == stages.end() || index >= stage->second.size() || !stage->second[index])
      return nullptr;
    return &stage->second[index];
  }

  void place(const address& who, caf::actor actor) {
    std::vector<caf::actor>& stage = stages[who.stage];
    const auto index = static_cast<std::size_t>(who.index + 1);
    if (index >= stage.size())
      stage.resize(index + 1);
    stage[index] = std::move(actor);
  }

  static void end(const std::vector<caf::actor>& actors, caf::execution_unit* unit) {
    for (const caf::actor& each : actors)
      if (each)
        each->enqueue(caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, curtain{}), unit);
  }
};

caf_world::caf_world() {
  const logger_kept kept;
  auto own = std::make_unique<own_system>();
  caf::actor_system& actors = own->actors;
  system_ = std::make_unique<system>(std::move(own), actors);
}

caf_world::caf_world(caf::actor_system& home) : system_(std::make_unique<system>(nullptr, home)) {}

caf_world::~caf_world() {
  close();
  system_->alive->wait_for_none();
}

void caf_world::close() {
  for (const auto& [stage, actors] : system_->stages)
    system::end(actors, nullptr);
}

void caf_world::close_gates() {
  if (const auto gates = system_->stages.find(address::gate_stage); gates != system_->stages.end())
    system::end(gates->second, nullptr);
}

void caf_world::spawn(const address& who, std::unique_ptr<actor_role> role) {
  // The actor of a worker that is gone plays the new one, when it has done what it was told before.
  if (const caf::actor* there = system_->find(who)) {
    const recast next{std::make_shared<std::unique_ptr<actor_role>>(std::move(role))};
    (*there)->enqueue(caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, next), nullptr);
    return;
  }
  const logger_kept kept;
  const bool may_be_taken = system_->own == nullptr;
  auto plays = std::make_shared<part>(std::move(role), may_be_taken);
  if (may_be_taken)
    system_->parts[who] = plays;
  system_->place(who, system_->actors.spawn<host, caf::hidden>(std::move(plays), system_->alive));
}

void caf_world::admit(const address& who, caf::actor actor) { system_->place(who, std::move(actor)); }

std::shared_ptr<census> caf_world::residents() const { return system_->alive; }

std::vector<tenant> caf_world::vacate(caf::execution_unit* unit) {
  std::vector<tenant> tenants;
  for (const auto& [who, plays] : system_->parts) {
    const std::lock_guard lock(plays->mutex);
    if (plays->role)
      tenants.push_back({who, std::move(plays->role)});
  }
  for (const auto& [stage, actors] : system_->stages)
    system::end(actors, unit);
  system_->stages.clear();
  return tenants;
}

void caf_world::post(const address&, const address& to, message&& content) {
  const caf::actor* target = system_->find(to);
  if (target == nullptr)
    return;
  const bool near = to.index != address::router_index && current_unit != nullptr &&
                    &current_unit->system() == &system_->actors;
  (*target)->enqueue(caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, std::move(content)),
                     near ? current_unit : nullptr);
}

void caf_world::wake(const address& who, time_point when) {
  if (const caf::actor* target = system_->find(who))
    caf::delayed_anon_send(*target, std::max(when - now(), time_point{}), message{msg::tick{}});
}

}  // namespace twinkle::runtime
