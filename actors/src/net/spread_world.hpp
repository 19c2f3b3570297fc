// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "gateway.hpp"
#include "runtime/run_world.hpp"

namespace twinkle::net {

/// The seams of a run on several nodes: actors of this one live in an inner world, those of others are reached through
/// the gateway. A role that is spawned on another node is made there.
class spread_world final : public runtime::run_world {
 public:
  spread_world(std::unique_ptr<runtime::run_world> inner, gateway& way) : inner_(std::move(inner)), way_(way) {}

  [[nodiscard]] time_point now() const override { return inner_->now(); }
  void wake(const address& who, time_point when) override { inner_->wake(who, when); }

  void post(const address& from, const address& to, message&& content) override {
    if (way_.concerns(to, content))
      way_.post(from, to, std::move(content));
    else
      inner_->post(from, to, std::move(content));
  }

  void spawn(const address& who, std::unique_ptr<actor_role> role) override {
    way_.spawn(who);
    if (way_.node_of(who) == way_.here())
      house(who, std::move(role));
  }

  /// Whom another node has spawned here.
  void house(const address& who, std::unique_ptr<actor_role> role) { inner_->spawn(who, std::move(role)); }
  /// To an actor here, with all that it needs.
  void deliver(const address& from, const address& to, message&& content) {
    inner_->post(from, to, std::move(content));
  }

  [[nodiscard]] seams all() override { return {*this, *this, *this, inner_->all().executor}; }
  void close() override { inner_->close(); }

 private:
  std::unique_ptr<runtime::run_world> inner_;
  gateway& way_;
};

}  // namespace twinkle::net
