// SPDX-License-Identifier: Apache-2.0
#include "caf_world.hpp"

#include <caf/all.hpp>
#include <exception>
#include <map>
#include <utility>
#include <vector>

#include "twinkle/base/ensure.hpp"

namespace twinkle::runtime {

/// The last message that an actor gets.
struct curtain {};

}  // namespace twinkle::runtime

CAF_BEGIN_TYPE_ID_BLOCK(twinkle_runtime, first_custom_type_id)
CAF_ADD_TYPE_ID(twinkle_runtime, (twinkle::message))
CAF_ADD_TYPE_ID(twinkle_runtime, (twinkle::runtime::curtain))
CAF_END_TYPE_ID_BLOCK(twinkle_runtime)

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(twinkle::message)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(twinkle::runtime::curtain)

namespace twinkle::runtime {
namespace {

// Where the actor that runs on this thread may queue what it wakes; null on threads that are none of the scheduler's.
thread_local caf::execution_unit* current_unit = nullptr;

class host final : public caf::event_based_actor {
 public:
  host(caf::actor_config& config, std::shared_ptr<std::unique_ptr<actor_role>> role)
      : caf::event_based_actor(config), role_(std::move(*role)) {}

  caf::behavior make_behavior() override {
    return {[this](message& arrived) {
              current_unit = context();
              receive(std::move(arrived));
              current_unit = nullptr;
            },
            [this](curtain) {
              role_ = nullptr;
              quit();
            }};
  }

 private:
  void receive(message&& content) {
    try {
      role_->receive(std::move(content));
    } catch (const std::exception& escaped) {
      broken_invariant(std::string("no actor lets an exception out: ") + escaped.what(),
                       std::source_location::current());
    }
  }

  std::unique_ptr<actor_role> role_;
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

}  // namespace

// Filled before the first message is posted, and only read from then on.
struct caf_world::system {
  caf::actor_system_config config;
  caf::actor_system actors{tuned(config)};
  std::map<std::int32_t, std::vector<caf::actor>> stages;  // by index + 1, so that routers come first

  [[nodiscard]] const caf::actor* find(const address& who) const {
    const auto stage = stages.find(who.stage);
    const auto index = static_cast<std::size_t>(who.index + 1);
    if (stage == stages.end() || index >= stage->second.size() || !stage->second[index])
      return nullptr;
    return &stage->second[index];
  }
};

caf_world::caf_world() : system_(std::make_unique<system>()) {}

caf_world::~caf_world() {
  for (auto& [stage, actors] : system_->stages)
    for (caf::actor& each : actors)
      if (each)
        caf::anon_send(each, curtain{});
}

void caf_world::spawn(const address& who, std::unique_ptr<actor_role> role) {
  std::vector<caf::actor>& stage = system_->stages[who.stage];
  const auto index = static_cast<std::size_t>(who.index + 1);
  if (index >= stage.size())
    stage.resize(index + 1);
  stage[index] = system_->actors.spawn<host>(std::make_shared<std::unique_ptr<actor_role>>(std::move(role)));
}

void caf_world::post(const address&, const address& to, message&& content) {
  if (const caf::actor* target = system_->find(to))
    (*target)->enqueue(caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, std::move(content)),
                       to.index == address::router_index ? nullptr : current_unit);
}

void caf_world::wake(const address& who, time_point when) {
  if (const caf::actor* target = system_->find(who))
    caf::delayed_anon_send(*target, std::max(when - now(), time_point{}), message{msg::tick{}});
}

}  // namespace twinkle::runtime
