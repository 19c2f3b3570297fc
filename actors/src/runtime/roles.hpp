// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "twinkle/observe/busy_meter.hpp"
#include "twinkle/flow/seams.hpp"
#include "twinkle/flow/session_machine.hpp"
#include "twinkle/flow/stage_machine.hpp"
#include "worker_body.hpp"

namespace twinkle::runtime {

/// Keeps at most one timer for an actor: the earliest that its machine wants.
class alarm {
 public:
  alarm(const seams& world, const address& self) : world_(world), self_(self) {}

  void set(std::optional<time_point> wanted, time_point now) {
    if (!wanted || (set_ && *set_ <= *wanted && *set_ > now))
      return;
    set_ = wanted;
    world_.clock.wake(self_, *wanted);
  }

 private:
  seams world_;
  address self_;
  std::optional<time_point> set_;
};

/// The router of a stage.
class router_role final : public actor_role {
 public:
  /// Makes the actor of a worker by its index, for the place of one that is gone.
  using worker_maker = std::function<std::unique_ptr<actor_role>(std::size_t)>;

  router_role(stage_machine machine, const address& self, const seams& world, busy_meter& meter, worker_maker make)
      : machine_(std::move(machine)),
        self_(self),
        world_(world),
        meter_(meter),
        make_(std::move(make)),
        alarm_(world, self) {}

  void receive(message&& content) override;

 private:
  stage_machine machine_;
  address self_;
  seams world_;
  busy_meter& meter_;
  worker_maker make_;
  alarm alarm_;
};

/// A worker: it always answers, while its body may block.
class worker_role final : public actor_role {
 public:
  worker_role(std::shared_ptr<stage_kit> kit, std::size_t index, const seams& world, busy_meter& meter);

  ~worker_role() override { thread_ = nullptr; }  // waits for a job, which uses the body

  void receive(message&& content) override;

 private:
  std::unique_ptr<body_seam> thread_;
  std::shared_ptr<worker_body> body_;  // shared with a thread that was abandoned
};

/// The run as a whole.
class session_role final : public actor_role {
 public:
  session_role(session_machine& machine, const seams& world, busy_meter& meter, std::function<void()> on_done)
      : machine_(machine), world_(world), meter_(meter), alarm_(world, address::session()), on_done_(std::move(on_done)) {}

  void receive(message&& content) override;

 private:
  session_machine& machine_;
  seams world_;
  busy_meter& meter_;
  alarm alarm_;
  std::function<void()> on_done_;
};

}  // namespace twinkle::runtime
