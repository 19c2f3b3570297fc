// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "real_clock.hpp"
#include "real_executor.hpp"
#include "twinkle/flow/seams.hpp"

namespace twinkle::runtime {

/// The real world: actors on CAF, bodies on threads, the machine's clock. All actors are spawned before the first
/// message is posted. Destroying it ends every actor, after what was posted before.
class caf_world final : public clock_seam, public post_seam, public life_seam {
 public:
  caf_world();
  ~caf_world() override;
  caf_world(const caf_world&) = delete;
  caf_world& operator=(const caf_world&) = delete;

  [[nodiscard]] time_point now() const override { return clock_.now(); }
  void wake(const address& who, time_point when) override;
  void post(const address& from, const address& to, message&& content) override;
  void spawn(const address& who, std::unique_ptr<actor_role> role) override;

  [[nodiscard]] seams all() { return {*this, *this, *this, executor_}; }

 private:
  struct system;

  real_clock clock_;
  real_executor executor_{clock_};
  std::unique_ptr<system> system_;
};

}  // namespace twinkle::runtime
