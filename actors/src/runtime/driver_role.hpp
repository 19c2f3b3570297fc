// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "interruption.hpp"
#include "twinkle/flow/caller.hpp"
#include "twinkle/flow/seams.hpp"

namespace twinkle::runtime {

/// Where the outcomes of a driver's calls arrive, and where the driver waits for them.
class driver_desk final : public driver_services {
 public:
  driver_desk(const seams& world, gate& blocking) : world_(world), break_(blocking) {}

  // From the actor's side.
  void answer(msg::answer outcome);
  void cancel(const fault& why) { break_.cancel(std::nullopt, why); }

  [[nodiscard]] std::uint64_t next_id() override { return next_++; }
  void post(std::size_t stage, message content) override;
  [[nodiscard]] result<collected> await(std::size_t stage, std::uint64_t id) override;
  [[nodiscard]] time_point now() const override { return world_.clock.now(); }
  void sleep_until(time_point when) override { break_.sleep_until(world_.clock, when); }
  [[nodiscard]] bool stopping() const override { return break_.stopping(); }

  /// From now on nothing is posted: futures that outlive their driver forget by themselves.
  void close();

 private:
  seams world_;
  interruption break_;
  std::mutex mutex_;
  bool closed_ = false;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, result<collected>> answers_;
};

/// The actor of a graph's driver: it always answers, while the driver itself may block.
class driver_role final : public actor_role {
 public:
  driver_role(std::string graph, std::function<void(caller&)> driver, const seams& world);
  ~driver_role() override { thread_ = nullptr; }  // waits for the driver

  void receive(message&& content) override;

 private:
  std::string name_;
  std::function<void(caller&)> driver_;
  seams world_;
  std::unique_ptr<body_seam> thread_;
  std::shared_ptr<driver_desk> desk_;
};

}  // namespace twinkle::runtime
