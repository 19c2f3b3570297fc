// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "twinkle/base/result.hpp"
#include "twinkle/base/time.hpp"
#include "twinkle/flow/call.hpp"
#include "twinkle/flow/collected.hpp"
#include "twinkle/flow/payload.hpp"

namespace twinkle::route {

/// What to send to one worker.
struct delivery {
  std::size_t worker = 0;
  payload input;
  std::shared_ptr<const std::vector<micro_batch>> micro_batches = nullptr;
};

/// The one answer of a call. If it is a fault, the workers that still work on it are to be cancelled.
struct outcome {
  call_id call = 0;
  result<collected> value;
  std::vector<std::size_t> unfinished = {};
};

/// Decides for one stage: a call, its slices, replies in any order, failures and deadlines come in; what to send and
/// what to answer go out. Every call has exactly one outcome: that of `start` if it is refused, else the first of a
/// full set of replies, a failure, or its deadline. Replies that come late or twice change nothing.
class machine {
 public:
  explicit machine(team workers, collector rule = collect_in_order);

  struct started {
    call_id call = 0;
    std::vector<delivery> deliveries = {};
    std::optional<outcome> refused = std::nullopt;
  };

  [[nodiscard]] started start(call wanted);
  [[nodiscard]] std::optional<outcome> reply(std::size_t worker, call_id call, result<payload>&& value);

  /// What a worker was given for a call in flight; null if it was given nothing.
  [[nodiscard]] const returned* part(call_id call, std::size_t worker) const;

  /// Gives a call in flight another deadline.
  void expect_by(call_id call, time_point deadline);

  /// The outcomes of all calls whose deadline is not after `now`; each names who has not answered.
  [[nodiscard]] std::vector<outcome> expire(time_point now);
  [[nodiscard]] std::optional<time_point> next_deadline() const;

  /// Ends a call with a fault, as if a worker had failed; nothing if it is not in flight.
  [[nodiscard]] std::optional<outcome> cancel(call_id call, fault why);

  /// Forgets all calls in flight, which get no outcome.
  void forget() { calls_.clear(); }

  /// Workers that have not answered `call`; empty if it is not in flight.
  [[nodiscard]] std::vector<std::size_t> silent(call_id call) const;

  [[nodiscard]] std::size_t in_flight() const { return calls_.size(); }
  [[nodiscard]] bool in_flight(call_id call) const {
    return std::any_of(calls_.begin(), calls_.end(), [&](const flight& each) { return each.id == call; });
  }
  [[nodiscard]] const team& workers() const { return workers_; }

 private:
  struct flight {
    call_id id = 0;
    call wanted;
    std::vector<returned> parts;  // by delivery
    std::vector<bool> answered;
    std::size_t answers = 0;
  };

  [[nodiscard]] flight* find(call_id id);
  [[nodiscard]] outcome finish(flight& ended, result<collected> value);

  team workers_;
  collector rule_;
  std::vector<flight> calls_;
  call_id next_ = 0;
};

}  // namespace twinkle::route
