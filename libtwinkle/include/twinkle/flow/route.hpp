// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
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

/// A part of a call that is sent to a worker again, under an id of its own, or to another worker.
struct redelivery {
  call_id call = 0;  ///< that it belongs to
  call_id id = 0;    ///< that its worker answers to
  delivery what;
};

/// What a worker is to be told to leave.
struct recall {
  std::size_t worker = 0;
  call_id id = 0;
  fault why;
};

/// A failure that did not end its call.
struct setback {
  fault why;
  std::size_t dropped = 0;  ///< rows that were lost by it; else others work on them
};

/// A process that is gone, with all that it kept for others.
struct lost_node {
  std::size_t node = 0;
  std::uint64_t life = 0;  ///< `far_bytes::life`: another process may run on the node again
  std::string cause;
};

/// Who has a part of a call: a worker, and the id under which it was given the part.
struct holder {
  std::size_t worker = 0;
  call_id id = 0;

  friend bool operator==(const holder&, const holder&) = default;
};

/// Whether what `from` says of a part that it was given counts. `now` has the part, or has answered for it.
using reply_rule = std::function<bool(const holder& now, bool answered, const holder& from)>;

/// Those of the columns of some rows.
[[nodiscard]] batch read_by(const read_list& reads, const batch& rows);

/// Only what its holder says, until it has answered.
[[nodiscard]] inline bool counts_once(const holder& now, bool answered, const holder& from) {
  return !answered && now == from;
}

/// Decides for one stage: a call, its slices, replies in any order, failures and deadlines come in; what to send and
/// what to answer go out. Every call has exactly one outcome: that of `start` if it is refused, else the first of a
/// full set of replies, a failure, or its deadline. Replies that come late or twice change nothing.
///
/// A worker's part is done when all of its rows are closed. What is left of one, since its worker failed (where the
/// call allows retries) or returned unfinished rows, goes to the next worker that can take it:
///
///     rows 4..7 to worker 1:  4 5 closed | worker 1 dies | 6 7 to worker 2:  6 closed, 7 unfinished | 7 to worker 3
///
/// All workers of one data rank go together.
class machine {
 public:
  explicit machine(team workers, collector rule = collect_in_order, reply_rule counts = counts_once);

  struct started {
    call_id call = 0;
    std::vector<delivery> deliveries = {};
    std::optional<outcome> refused = std::nullopt;
  };

  [[nodiscard]] started start(call wanted);
  [[nodiscard]] std::optional<outcome> reply(std::size_t worker, call_id call, result<payload>&& value);

  /// Rows of a part that its worker has closed before it is done with the others: whatever happens to it, they count.
  void closed(std::size_t worker, call_id call, const batch& rows);

  /// A worker is gone, and whatever it had to do. Those that `return` are waited for where nobody else is left.
  [[nodiscard]] std::vector<outcome> lose(std::size_t worker, const std::string& cause, bool returns);
  /// It takes calls again; what waited for one is sent.
  [[nodiscard]] std::vector<outcome> regain(std::size_t worker);
  [[nodiscard]] bool gone(std::size_t worker) const { return gone_[worker] != presence::here; }

  void lose_node(lost_node what) { nodes_lost_.push_back(std::move(what)); }

  /// Rows without those of which a worker would read what was on a node that is lost; each of these leaves a tombstone.
  struct left_of {
    batch rows;
    std::size_t gone = 0;
    std::string cause = {};
  };
  [[nodiscard]] left_of without_gone(const read_list& reads, const batch& rows) const;

  /// What is to be sent, and to be left, since this was asked last. Rows that a worker failed on carry the version of
  /// whoever takes them.
  [[nodiscard]] std::vector<redelivery> take_again(std::int64_t version);
  [[nodiscard]] std::vector<recall> take_recalls(time_point now);
  /// The failures that were made good, or whose rows were dropped.
  [[nodiscard]] std::vector<setback> take_setbacks() { return std::exchange(setbacks_, {}); }

  /// Workers that were told to leave something, and have not within `patience`; one that still does something else that
  /// came first has as long again.
  struct hung {
    std::size_t worker = 0;
    std::string endpoint;
  };
  [[nodiscard]] std::vector<hung> take_hung(time_point now);
  static constexpr duration patience = std::chrono::seconds(10);

  /// What a worker has to do for a call, or for a part of one that was sent again; null if it is nothing.
  [[nodiscard]] const returned* part(call_id id, std::size_t worker) const;
  /// The rows that it was given to do that, some of which may be closed; null if they are none.
  [[nodiscard]] const batch* given(call_id id, std::size_t worker) const;
  /// What a worker says of it, with the columns that went around the worker.
  [[nodiscard]] batch with_unread(std::size_t worker, call_id id, const batch& rows) const;
  /// The call that an id belongs to, which is its own but for what was sent again.
  [[nodiscard]] call_id call_of(call_id id) const;

  /// Gives a call in flight another deadline.
  void expect_by(call_id call, time_point deadline);

  /// The outcomes of all calls whose deadline is not after `now`; each names who has not answered. A call that goes on
  /// with other workers has no deadline until it is given one.
  [[nodiscard]] std::vector<outcome> expire(time_point now);
  [[nodiscard]] std::optional<time_point> next_deadline() const;
  /// Calls that expired while all that they still had to do waited behind others: they want another deadline.
  [[nodiscard]] std::vector<call_id> take_postponed() { return std::exchange(postponed_, {}); }

  /// Whether some part was sent again, so that later calls may be worked on before those that came first.
  [[nodiscard]] bool sent_again() const;
  /// Whether some worker may be working on a call: nothing that came before is in its way there.
  [[nodiscard]] bool is_worked_on(call_id call) const;

  /// Ends a call with a fault, as if a worker had failed; nothing if it is not in flight.
  [[nodiscard]] std::optional<outcome> cancel(call_id call, fault why);

  /// Forgets all calls in flight, which get no outcome.
  void forget();

  /// Rows of a call in flight whose workers have answered, replicas not counted.
  [[nodiscard]] std::size_t rows_answered(call_id call) const;

  /// Workers that have not answered `call`; empty if it is not in flight.
  [[nodiscard]] std::vector<std::size_t> silent(call_id call) const;

  [[nodiscard]] std::size_t in_flight() const { return calls_.size(); }
  [[nodiscard]] bool in_flight(call_id call) const {
    return std::any_of(calls_.begin(), calls_.end(), [&](const flight& each) { return each.id == call; });
  }
  [[nodiscard]] const team& workers() const { return workers_; }

 private:
  enum class presence : std::uint8_t { here, returns, gone };

  // How far a part has come that was not done at once.
  struct progress {
    call_id id = 0;
    std::optional<std::size_t> worker;  // unset while nobody can take it
    payload given = {};                 // what is left
    std::size_t tries = 0;
    std::vector<batch> closed = {};
    std::vector<batch> closing = {};    // by the worker that has it now, which will return them as well
    bool redone = false;                // it carries the version of who takes it
  };
  struct flight {
    call_id id = 0;
    call wanted;
    std::vector<returned> parts;  // by delivery
    std::vector<bool> answered;
    std::size_t answers = 0;
    std::map<std::size_t, progress> begun = {};  // by part
    std::vector<std::string> around = {};        // columns that workers are not given
  };
  struct spot {
    std::size_t call = 0;
    std::size_t part = 0;
  };
  struct overdue {
    std::size_t worker = 0;
    call_id id = 0;
    std::string endpoint;
    std::optional<time_point> until = std::nullopt;  // unset: it was not told yet
  };

  [[nodiscard]] flight* find(call_id id);
  [[nodiscard]] std::optional<spot> open_part(std::size_t worker, call_id id) const;
  [[nodiscard]] static delivery to_deliver(const flight& of, std::size_t part, std::size_t worker, const payload& given);
  [[nodiscard]] outcome finish(flight& ended, result<collected> value);
  [[nodiscard]] std::optional<outcome> done(flight& call, std::size_t part, payload value);
  [[nodiscard]] std::optional<outcome> failed(flight& call, std::size_t part, fault why, bool silent = false);
  [[nodiscard]] std::optional<outcome> answer(flight& call, std::size_t part, payload value);
  [[nodiscard]] std::optional<outcome> give_up(flight& call, std::size_t part, fault why);
  [[nodiscard]] outcome fail_by(flight& call, std::size_t part, fault why);
  [[nodiscard]] outcome expire(flight& call);
  [[nodiscard]] std::vector<std::size_t> worked_on(const flight& call) const;
  [[nodiscard]] std::optional<fault> set_gone_aside(flight& begun);
  [[nodiscard]] bool busy_before(std::size_t worker, call_id id) const;
  [[nodiscard]] fault located(const flight& call, std::size_t part, fault why) const;
  [[nodiscard]] fault silence(const flight& call, std::size_t part) const;
  progress& progress_of(flight& call, std::size_t part);
  [[nodiscard]] bool counts(const flight& call, std::size_t part, const holder& from) const;
  [[nodiscard]] call_id id_of(const flight& call, std::size_t part) const;
  [[nodiscard]] std::size_t worker_of(const flight& call, std::size_t part) const;
  [[nodiscard]] std::size_t unit_of(const flight& call, std::size_t worker) const;
  [[nodiscard]] std::vector<std::size_t> parts_beside(const flight& call, std::size_t part) const;
  [[nodiscard]] std::optional<std::size_t> stand_in(const flight& call, std::size_t unit, bool may_stay) const;
  [[nodiscard]] bool hopes(const flight& call) const;
  void give_out_waiting(std::vector<outcome>& ended);
  [[nodiscard]] bool send_again(flight& call, std::size_t part, bool may_stay = false);
  void call_back(flight& call, std::size_t part, const fault& why);
  [[nodiscard]] bool bury_gone(const flight& call, std::size_t part, progress& so_far);

  team workers_;
  collector rule_;
  reply_rule counts_;
  std::vector<flight> calls_;
  call_id next_ = 0;
  std::vector<presence> gone_;           // by worker
  std::vector<std::string> why_gone_;
  std::vector<redelivery> again_;
  std::vector<recall> recalls_;
  std::vector<setback> setbacks_;
  std::vector<overdue> overdue_;
  std::vector<call_id> postponed_;
  std::vector<lost_node> nodes_lost_;
};

}  // namespace twinkle::route
