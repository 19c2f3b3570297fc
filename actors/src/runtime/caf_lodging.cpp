// SPDX-License-Identifier: Apache-2.0
#include "caf_lodging.hpp"

#include <algorithm>
#include <caf/all.hpp>
#include <utility>

#include "caf_gate.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/base/list.hpp"

namespace twinkle::runtime {
namespace {

/// Waits in the refuge for the end, and says so if it does not come.
class guard final : public actor_role {
 public:
  guard(std::function<void(fault)> on_lost, fault why) : on_lost_(std::move(on_lost)), why_(std::move(why)) {}

  void receive(message&& content) override {
    if (std::holds_alternative<msg::tick>(content) && on_lost_)
      std::exchange(on_lost_, nullptr)(why_);
  }

 private:
  std::function<void(fault)> on_lost_;
  fault why_;
};

}  // namespace

/// Hears of the end of an actor that the system ends first when it is shut down, while its threads still run.
class caf_lodging::watch : public std::enable_shared_from_this<caf_lodging::watch> {
 public:
  explicit watch(caf_lodging* of) : of_(of) {}

  void begin(const caf::strong_actor_ptr& first_to_go) {
    first_to_go_ = caf::actor_cast<caf::actor_addr>(first_to_go);
    first_to_go->get()->attach(std::make_unique<ear>(shared_from_this()));
  }

  void end() {
    {
      const std::lock_guard lock(mutex_);
      of_ = nullptr;
    }
    if (const auto still_there = caf::actor_cast<caf::strong_actor_ptr>(first_to_go_))
      still_there->get()->detach(token());
  }

 private:
  class ear final : public caf::attachable {
   public:
    explicit ear(std::shared_ptr<watch> of) : of_(std::move(of)) {}

    void actor_exited(const caf::error&, caf::execution_unit* unit) override {
      const std::lock_guard lock(of_->mutex_);
      if (of_->of_ != nullptr)
        of_->of_->move_out(unit);
    }
    bool matches(const caf::attachable::token& what) override {
      return what.subtype == caf::attachable::token::anonymous && what.ptr == of_.get();
    }

   private:
    std::shared_ptr<watch> of_;
  };

  [[nodiscard]] caf::attachable::token token() const { return {caf::attachable::token::anonymous, this}; }

  std::mutex mutex_;
  caf_lodging* of_;
  caf::actor_addr first_to_go_;
};

caf_lodging::caf_lodging(caf::actor_system& home, terms agreed)
    : agreed_(std::move(agreed)), home_(home), watch_(std::make_shared<watch>(this)), inner_(home) {
  if (!home_.spawn_serv())
    throw error("run '" + agreed_.run + "' cannot start: the actor system that it is to run in is being shut down");
}

caf_lodging::~caf_lodging() { close(); }

void caf_lodging::close() {
  watch_->end();
  const std::unique_lock alone(door_);
  if (std::exchange(where_, place_of_actors::nowhere) == place_of_actors::home)
    inner_.close();
  if (refuge_)
    refuge_->close();
}

void caf_lodging::post(const address& from, const address& to, message&& content) {
  const std::shared_lock inside(door_);
  if (where_ != place_of_actors::home && std::holds_alternative<msg::build>(content))
    return;  // the run is given up: nothing is built any more
  if (where_ == place_of_actors::home) {
    const bool begins = std::holds_alternative<msg::begin>(content);
    inner_.post(from, to, std::move(content));
    if (begins)  // the gate hears of it after the router
      inner_.post(from, address::gate(static_cast<std::size_t>(to.stage)), msg::begin{});
  } else if (where_ == place_of_actors::on_the_way) {
    const std::lock_guard lock(luggage_);
    held_.push_back({to, std::move(content)});
  } else if (where_ == place_of_actors::refuge) {
    refuge_->post(from, to, std::move(content));
  }
}

void caf_lodging::wake(const address& who, time_point when) {
  const std::shared_lock inside(door_);
  if (where_ == place_of_actors::refuge)
    return refuge_->wake(who, when - now() + refuge_->now());
  const std::lock_guard lock(luggage_);
  alarms_[who] = when;
  if (where_ == place_of_actors::home)
    inner_.wake(who, when);
}

void caf_lodging::spawn(const address& who, std::unique_ptr<actor_role> role) { inner_.spawn(who, std::move(role)); }

void caf_lodging::open_gates(const blueprint& plan, const place::layout& placed) {
  for (const stage_plan& stage : placed.stages) {
    const caf::actor made = spawn_gate(home_, stage, *this, inner_.residents());
    inner_.admit(address::gate(stage.ordinal), made);
    gates_[plan.stages[stage.ordinal].name] = made;
  }
  watch_->begin(home_.spawn_serv());
}

caf::actor caf_lodging::gate(std::string_view stage) const {
  const auto found = gates_.find(stage);
  if (found != gates_.end())
    return found->second;
  std::vector<std::string> names;
  for (const auto& [name, actor] : gates_)
    names.push_back(name);
  throw error("run '" + agreed_.run + "' has no stage '" + std::string(stage) + "'; it has " + list(names));
}

// On a thread of the system that is shut down, which waits for it. What lies in the mailboxes there is lost.
void caf_lodging::move_out(caf::execution_unit* unit) {
  {
    const std::unique_lock alone(door_);
    if (where_ != place_of_actors::home)
      return;
    where_ = place_of_actors::on_the_way;
  }
  settle(inner_.vacate(unit), {agreed_.run, "", std::nullopt,
                               "the actor system that it ran in was shut down before its end; destroy the session first, "
                               "or interrupt it and wait"});
  caf::logger::set_current_actor_system(&home_);  // which it was before this thread made another
}

// The session decides first, and routers hear of its decision before anything else: what was lost does not matter then.
void caf_lodging::settle(std::vector<tenant> tenants, const fault& why) {
  for (tenant& each : tenants)
    if (each.who == address::session())
      deliver(*each.role, msg::failed{0, why});
  auto refuge = std::make_unique<caf_world>();
  for (tenant& each : tenants)
    refuge->spawn(each.who, std::move(each.role));
  const address gates = address::gate(0);  // nobody else answers there any more
  refuge->spawn(gates, std::make_unique<guard>(agreed_.on_lost, why));

  const std::unique_lock alone(door_);
  std::stable_partition(held_.begin(), held_.end(),
                        [](const envelope& each) { return std::holds_alternative<msg::abort>(each.content); });
  for (envelope& each : held_)
    refuge->post({}, each.to, std::move(each.content));
  held_.clear();
  for (const auto& [who, when] : alarms_)
    refuge->wake(who, when - now() + refuge->now());
  refuge->wake(gates, refuge->now() + 2 * agreed_.patience + std::chrono::seconds(1));
  refuge_ = std::move(refuge);
  where_ = place_of_actors::refuge;
}

}  // namespace twinkle::runtime
