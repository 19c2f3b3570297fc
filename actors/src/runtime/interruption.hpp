// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "twinkle/base/fault.hpp"
#include "twinkle/flow/route.hpp"
#include "twinkle/flow/seams.hpp"
#include "twinkle/flow/stopped.hpp"

namespace twinkle::runtime {

/// What an actor and its body share: which calls are cancelled, and how the body is woken to hear of it.
class interruption {
 public:
  explicit interruption(gate& blocking) : gate_(blocking) {}

  /// From the actor. Without a call, everything from now on is.
  void cancel(std::optional<route::call_id> call, const fault& why);

  /// From the body: the call that it begins, and why it is to end, if it is. Calls come in order.
  std::optional<fault> enter(route::call_id call);
  [[nodiscard]] std::optional<fault> why() const;
  [[nodiscard]] bool stopping() const;

  /// Blocks the body until `ready`, which is asked under `lock`; throws `stopped` once the call is cancelled.
  void await(std::unique_lock<std::mutex>& lock, const std::function<bool()>& ready);
  void sleep_until(const clock_seam& clock, time_point when);

  [[nodiscard]] gate& blocking() { return gate_; }

 private:
  [[nodiscard]] bool to_be_told();
  [[nodiscard]] std::optional<fault> cause() const;  // under the mutex

  // Small, for each body of hundreds looks at it once a call.
  gate& gate_;
  mutable std::mutex mutex_;
  route::call_id current_ = 0;
  std::vector<route::call_id> cancelled_;
  std::shared_ptr<const fault> call_cause_;  // of the cancelled calls
  std::shared_ptr<const fault> everything_;  // the run stops
  bool told_ = false;                        // by the body alone
};

}  // namespace twinkle::runtime
