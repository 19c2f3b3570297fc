// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "real_clock.hpp"
#include "real_executor.hpp"
#include "run_world.hpp"

namespace caf {
class actor;
class actor_system;
class execution_unit;
}

namespace twinkle::runtime {

class census;

/// A role without an actor.
struct tenant {
  address who;
  std::unique_ptr<actor_role> role;
};

/// The role takes a message; an exception that it lets out is a broken invariant.
void deliver(actor_role& role, message&& content);

/// The real world: actors on CAF, bodies on threads, the machine's clock.
class caf_world final : public run_world {
 public:
  /// In an actor system of its own.
  caf_world();
  /// In that of a user, whose actors are none of our business. Ours are hidden: it does not wait for them to end.
  explicit caf_world(caf::actor_system& home);
  ~caf_world() override;
  caf_world(const caf_world&) = delete;
  caf_world& operator=(const caf_world&) = delete;

  [[nodiscard]] time_point now() const override { return clock_.now(); }
  void wake(const address& who, time_point when) override;
  void post(const address& from, const address& to, message&& content) override;
  void spawn(const address& who, std::unique_ptr<actor_role> role) override;
  [[nodiscard]] seams all() override { return {*this, *this, *this, executor_}; }
  void close() override;

  /// A CAF actor that takes messages at this address, and ends with a curtain. It has entered the census.
  void admit(const address& who, caf::actor actor);
  [[nodiscard]] std::shared_ptr<census> residents() const;

  /// The curtain falls for the actors at the gates.
  void close_gates();

  /// From a user's system only: takes the roles from their actors, which end with what they did not hear. Nothing may
  /// be posted meanwhile. `unit`, if there is one, runs them.
  [[nodiscard]] std::vector<tenant> vacate(caf::execution_unit* unit);

 private:
  struct system;

  real_clock clock_;
  real_executor executor_{clock_};
  std::unique_ptr<system> system_;
};

}  // namespace twinkle::runtime
