// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "caf_world.hpp"
#include "twinkle/base/fault.hpp"
#include "twinkle/flow/blueprint.hpp"
#include "twinkle/place/layout.hpp"

namespace twinkle::runtime {

/// A world in an actor system of the user's. If that is shut down while the run goes on, the actors move to a system of
/// their own, where the session gives the run up in order: bodies hear of it, and are waited for with patience.
class caf_lodging final : public run_world {
 public:
  struct terms {
    std::string run;                           ///< its name
    duration patience{};                       ///< for bodies to end, as the session has it
    std::function<void(fault)> on_lost = {};   ///< the run did not come to its end even so
  };

  /// Throws `error` if the system is being shut down.
  caf_lodging(caf::actor_system& home, terms agreed);
  ~caf_lodging() override;
  caf_lodging(const caf_lodging&) = delete;
  caf_lodging& operator=(const caf_lodging&) = delete;

  [[nodiscard]] time_point now() const override { return inner_.now(); }
  void wake(const address& who, time_point when) override;
  void post(const address& from, const address& to, message&& content) override;
  void spawn(const address& who, std::unique_ptr<actor_role> role) override;
  [[nodiscard]] seams all() override { return {*this, *this, *this, inner_.all().executor}; }
  void close() override;

  /// Spawns an actor for each stage that calls its router in the name of CAF actors. After all else is spawned.
  void open_gates(const blueprint& plan, const place::layout& placed);
  /// The one of the stage. Throws `error` naming the stages there are.
  [[nodiscard]] caf::actor gate(std::string_view stage) const;
  /// What was called and is not answered is a fault from now on.
  void close_gates() { inner_.close_gates(); }

 private:
  enum class place_of_actors : std::uint8_t { home, on_the_way, refuge, nowhere };
  class watch;

  void move_out(caf::execution_unit* unit);
  void settle(std::vector<tenant> tenants, const fault& why);

  terms agreed_;
  caf::actor_system& home_;
  std::shared_ptr<watch> watch_;
  std::map<std::string, caf::actor, std::less<>> gates_;
  std::shared_mutex door_;  // shared: to post; alone: to change where to
  place_of_actors where_ = place_of_actors::home;
  std::mutex luggage_;
  std::vector<envelope> held_;             // posted on the way
  std::map<address, time_point> alarms_;   // the last that each asked for
  caf_world inner_;
  std::unique_ptr<caf_world> refuge_;
};

}  // namespace twinkle::runtime
