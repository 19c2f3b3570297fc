// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "twinkle/observe/busy_meter.hpp"
#include "interruption.hpp"
#include "meeting_hall.hpp"
#include "twinkle/flow/context.hpp"
#include "twinkle/flow/message.hpp"
#include "twinkle/flow/seams.hpp"
#include "twinkle/flow/stage_plan.hpp"

namespace twinkle::runtime {

/// What all workers of a stage in one process share.
struct stage_kit {
  stage_plan plan;
  std::uint64_t seed = 0;
  hall_outside* outside = nullptr;  // where some of its workers are on other nodes
  meeting_hall hall{outside};
  bool tells_times = false;  // in replies: whoever reads the meter is in another process
};

/// A gate at which a body is known not to run, and what is known of when it does.
class metered_gate final : public gate {
 public:
  metered_gate(gate& inner, busy_meter& meter, std::size_t stage, const clock_seam& clock)
      : inner_(inner), meter_(meter), stage_(stage), clock_(clock) {}

  void wait() override {
    const pause blocked(*this);
    inner_.wait();
  }
  void wait_until(time_point when) override {
    const pause blocked(*this);
    inner_.wait_until(when);
  }
  void wake() override { inner_.wake(); }

  void begin() {
    since_ = clock_.now();
    meter_.begin(stage_, since_);
  }
  void end() {
    const time_point now = clock_.now();
    ran_ += now - since_;
    meter_.end(stage_, now);
  }
  /// For how long in all, since this was asked last.
  [[nodiscard]] duration ran() { return std::exchange(ran_, {}); }

 private:
  struct pause {
    explicit pause(metered_gate& of) : at(of) { at.end(); }
    ~pause() { at.begin(); }
    pause(const pause&) = delete;
    pause& operator=(const pause&) = delete;

    metered_gate& at;
  };

  gate& inner_;
  busy_meter& meter_;
  std::size_t stage_;
  const clock_seam& clock_;
  time_point since_{};
  duration ran_{};
};

/// A user's object and how it is called: built, called and destroyed where its body runs.
class worker_body final : public body_services {
 public:
  worker_body(std::shared_ptr<stage_kit> kit, std::size_t index, const seams& world, busy_meter& meter, gate& blocking)
      : kit_(std::move(kit)),
        place_(kit_->plan.workers[index]),
        world_(world),
        gate_(blocking, meter, kit_->plan.ordinal, world.clock),
        break_(gate_) {}

  /// Runs one task and posts its reply to the router; nothing is thrown.
  void execute(msg::task&& task);

  /// From the actor's side.
  void cancel(std::optional<route::call_id> call, const fault& why) { break_.cancel(call, why); }
  /// What it is to have for a later task is here.
  void has_gathered(route::call_id call);

  [[nodiscard]] time_point now() const override { return world_.clock.now(); }
  void sleep_until(time_point when) override;
  [[nodiscard]] bool stopping() const override { return break_.stopping(); }
  [[nodiscard]] std::shared_ptr<collective_port> along(std::initializer_list<std::string_view> axes) override;
  void hand_out(const batch& rows) override;

 private:
  friend class local_port;

  [[nodiscard]] result<payload> attempt(msg::task& task);
  [[nodiscard]] result<payload> call(msg::task& task, std::optional<fault> cancelled);
  [[nodiscard]] fault failure(const msg::task& task, std::string cause) const;

  std::shared_ptr<stage_kit> kit_;
  const worker_place& place_;
  seams world_;
  std::shared_ptr<void> object_;
  route::call_id call_ = 0;
  bool streams_ = false;  // what the call emits
  metered_gate gate_;
  interruption break_;
  std::map<std::pair<bool, std::vector<std::size_t>>, std::size_t> meetings_;  // of the call `met_`: one way, members
  std::optional<route::call_id> met_;
};

}  // namespace twinkle::runtime
