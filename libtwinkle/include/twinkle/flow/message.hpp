// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "twinkle/base/fault.hpp"
#include "twinkle/base/result.hpp"
#include "twinkle/base/time.hpp"
#include "twinkle/flow/checkpoint.hpp"
#include "twinkle/flow/collected.hpp"
#include "twinkle/flow/payload.hpp"
#include "twinkle/flow/route.hpp"
#include "twinkle/flow/standing.hpp"
#include "twinkle/observe/busy_meter.hpp"

namespace twinkle {

/// Who an actor is: the router of a stage, one of its workers, the session, a client of calls, or the one that calls a
/// stage's router for actors that are not of the run.
struct address {
  static constexpr std::int32_t session_stage = -1;
  static constexpr std::int32_t client_stage = -2;
  static constexpr std::int32_t gate_stage = -3;
  static constexpr std::int32_t router_index = -1;

  std::int32_t node = 0;
  std::int32_t stage = session_stage;
  std::int32_t index = router_index;

  friend constexpr auto operator<=>(const address&, const address&) = default;

  [[nodiscard]] static constexpr address session() { return {}; }
  [[nodiscard]] static constexpr address router(std::size_t stage) { return {0, static_cast<std::int32_t>(stage)}; }
  [[nodiscard]] static constexpr address worker(std::size_t stage, std::size_t index) {
    return {0, static_cast<std::int32_t>(stage), static_cast<std::int32_t>(index)};
  }
  [[nodiscard]] static constexpr address client(std::size_t index) {
    return {0, client_stage, static_cast<std::int32_t>(index)};
  }
  [[nodiscard]] static constexpr address gate(std::size_t stage) {
    return {0, gate_stage, static_cast<std::int32_t>(stage)};
  }
};

/// What a step was, as its training stage saw it.
struct step_record {
  std::size_t step = 0;
  metrics values = {};
  std::size_t rows = 0;
  std::size_t tombstones = 0;
  std::uint64_t digest = 0;       ///< of the identities of its rows, in order
  std::int64_t staleness_max = 0; ///< versions
  std::int64_t version = 0;       ///< of the weights that it made
  busy_meter::reading times = {}; ///< since the step before
};

/// Where the rows of a stage went, at its end.
struct row_account {
  std::size_t emitted = 0;  ///< by a source
  std::size_t trained = 0;  ///< taken by an endpoint that ends a stream, or delivered to nobody
  std::size_t held = 0;     ///< in its inlets, or made by a body that ended after the stop
  std::vector<std::pair<std::size_t, std::size_t>> sent = {};      ///< edge, rows
  std::vector<std::pair<std::size_t, std::size_t>> received = {};  ///< edge, rows
};

namespace msg {

// From the session to a router.
struct build {};
struct begin {};
struct stop {
  std::int64_t await_version = -1;  ///< that a subscriber is still to see
};
struct asked {};  ///< how it stands
struct abort {
  fault why;
  duration patience{};  ///< for bodies to end
};

// From a router to the session.
struct built {
  std::size_t stage = 0;
};
struct stepped {
  step_record record;
};
struct graded {
  std::size_t stage = 0;
  std::int64_t version = 0;
  metrics values;
};
struct newest {
  weights value;
};
struct saved {
  std::shared_ptr<const checkpoint> value;
};
struct failed {
  std::size_t stage = 0;
  fault why;
};
struct standing {
  std::size_t stage = 0;
  stage_standing value;
};
struct setback {
  std::size_t stage = 0;
  route::setback what;
};
struct ended {
  std::size_t stage = 0;
};
struct finished {
  std::size_t stage = 0;
  row_account rows;
  std::int64_t version = -1;             ///< the newest that was published
  std::vector<std::string> abandoned;    ///< bodies that did not end: "place in endpoint"
};

// Between a router and its workers.
struct task {
  enum class kind : std::uint8_t { construct, run, destroy, gather };  ///< gather: its input is to be there, for a run

  route::call_id call = 0;
  kind what = kind::run;
  std::size_t endpoint = 0;
  std::int64_t version = -1;
  payload input = {};
  std::shared_ptr<const std::vector<micro_batch>> micro_batches = nullptr;
  bool streams = false;  ///< what it emits goes on at once
  std::optional<route::call_id> gathered = std::nullopt;  ///< its input came with that
};
/// Rows of a call that goes on.
struct emitted {
  std::size_t worker = 0;
  route::call_id call = 0;
  batch rows;
};
struct cancel {
  std::optional<route::call_id> call = std::nullopt;  ///< unset: whatever is there, for the run stops
  fault why;
};
struct abandon {};  ///< its body does not end, and is left to itself
struct reply {
  std::size_t worker = 0;
  route::call_id call = 0;
  result<payload> value;
  duration ran{};  ///< how long its body ran and was not blocked, where it is metered in another process
};

// From the world to a router.
struct lost {  ///< a worker is gone with its object
  std::size_t worker = 0;
  std::string cause;
};
struct back {  ///< where it was, a worker can be built again
  std::size_t worker = 0;
};
struct node_lost {
  route::lost_node what;
};
/// From a router to its own actor: a new worker with a new object is to take the place of one that is gone.
struct respawn {
  std::size_t worker = 0;
};

// Between routers. Edges and subscriptions go by their ordinals in the blueprint.
struct rows {
  std::size_t edge = 0;
  batch value;
};
struct credit {
  std::size_t edge = 0;
  std::size_t rows = 0;
};
struct end {
  std::size_t edge = 0;
};
struct published {
  std::size_t publication = 0;
  weights value;
};

// Between a client and a router. A call's id is its client's own.
struct call {
  /// A batch of its input that is the outcome of another call.
  struct awaited {
    std::size_t position = 0;  ///< among the batches
    std::size_t stage = 0;     ///< whose router has it
    std::uint64_t id = 0;
  };

  std::uint64_t id = 0;
  address client;
  std::size_t endpoint = 0;
  route::call how;                    ///< its deadline is set by the endpoint
  std::vector<awaited> awaits = {};
  bool kept = false;                  ///< the outcome waits to be claimed; else it is answered to the client
};
/// Sends the outcome of a kept call to the client, or as a batch to the call of another stage.
struct claim {
  std::uint64_t id = 0;
  address client;
  std::optional<address> router = std::nullopt;
  std::uint64_t by = 0;               ///< the call that it is for
  std::size_t position = 0;
};
struct claimed {
  std::uint64_t by = 0;
  address client;
  std::size_t position = 0;
  result<collected> value;
};
struct forget {
  std::uint64_t id = 0;
  address client;
};
struct call_off {
  std::uint64_t id = 0;
  address client;
};
struct answer {
  std::uint64_t id = 0;
  result<collected> value;
};

// From the driver to the session.
struct driven {
  std::optional<fault> why = std::nullopt;
};

// To oneself: a timer fired.
struct tick {};

// To the session, from outside: end at the next step.
struct interrupt {};

}  // namespace msg

using message =
    std::variant<msg::build, msg::begin, msg::stop, msg::abort, msg::built, msg::stepped, msg::graded, msg::newest, msg::saved,
                 msg::failed, msg::setback, msg::asked, msg::standing, msg::ended, msg::finished, msg::task, msg::cancel,
                 msg::abandon, msg::reply, msg::emitted, msg::lost, msg::back, msg::respawn, msg::rows, msg::credit, msg::end,
                 msg::published, msg::call, msg::claim, msg::claimed, msg::forget, msg::call_off, msg::answer, msg::driven,
                 msg::tick, msg::interrupt, msg::node_lost>;

struct envelope {
  address to;
  message content;
};

/// What a decision comes to: messages to be posted, in this order.
using outbox = std::vector<envelope>;

}  // namespace twinkle
