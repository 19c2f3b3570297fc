// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "twinkle/flow/client_calls.hpp"
#include "twinkle/flow/edge_ends.hpp"
#include "twinkle/flow/join.hpp"
#include "twinkle/flow/message.hpp"
#include "twinkle/flow/route.hpp"
#include "twinkle/flow/stage_plan.hpp"
#include "twinkle/flow/stage_policies.hpp"

namespace twinkle {

/// All decisions of one stage's router: what its workers execute, in which order; what flows on; what is published;
/// when it may end. A message and the time come in, messages go out.
///
/// One order for all workers: construct, then source or data calls, loads and states as they are placed, then destroy.
class stage_machine {
 public:
  explicit stage_machine(stage_plan plan, stage_policies policies = {});

  /// A respawn in what it returns is for its own actor: to put a new worker in the place of one that is gone.
  [[nodiscard]] outbox receive(message&& content, time_point now);

  /// When it wants a tick at the latest.
  [[nodiscard]] std::optional<time_point> next_deadline() const;

 private:
  enum class phase : std::uint8_t { idle, building, built, running, stopping, closing, gone };

  struct construct_call {};
  struct destroy_call {};
  struct source_call {};
  struct data_call {
    std::size_t input = 0;
    std::size_t rows = 0;
    std::vector<tombstone> tombstones = {};
    std::uint32_t depth = 0;  // of its rows
    std::optional<step_record> step = std::nullopt;
    // By worker, and by what was asked of it: rows that it was given, whose results have gone on.
    std::map<std::pair<std::size_t, route::call_id>, std::size_t> streamed = {};
    std::size_t early = 0;                             // of all workers
  };
  // Rows that lie on other nodes, and are to be with all workers before a call of them starts.
  struct gather_call {
    std::size_t input = 0;
    batch rows;  // and tombstones
    std::uint32_t depth = 0;
    dispatch_rule how = {};
    fault why = {};  // it failed
    time_point again{};
    std::optional<time_point> until = std::nullopt;
  };
  struct load_call {
    std::int64_t version = 0;
  };
  struct state_call {
    std::size_t publication = 0;
    std::int64_t version = 0;
  };
  struct save_call {
    std::size_t step = 0;
    trained_rows trained = {};
  };
  struct client_call {
    std::uint64_t id = 0;
    address client;
    bool emits = false;  // no rows went in: those that come out are new
    std::vector<tombstone> tombstones = {};  // of the rows that went in
  };
  struct revival_call {
    std::size_t worker = 0;
    bool builds = false;
  };
  using purpose = std::variant<construct_call, destroy_call, source_call, data_call, gather_call, load_call, state_call, save_call,
                               client_call, revival_call>;

  struct under_way {
    route::call_id call = 0;
    std::size_t endpoint = 0;
    purpose why;
    std::optional<collected> value = std::nullopt;  // of a data call that waits for those before it
    std::optional<duration> patience = std::nullopt;  // until its deadline, from when it is the first to be answered
  };

  struct subscription {
    stage_plan::load plan;
    std::optional<admission> admitted = std::nullopt;
    std::deque<weights> pending = {};
    std::optional<weights> newest = std::nullopt;  // of those placed: what a new worker begins with
    std::int64_t placed = -1;  // version
    std::int64_t loaded = -1;
  };
  struct series {
    stage_plan::publication plan;
    std::int64_t made = 0;         // version after the last `after` call that was started
    std::int64_t asked = -1;       // of the last state call
    std::vector<std::int64_t> sent;  // by subscriber
    std::optional<weights> newest = std::nullopt;
    std::map<std::uint64_t, weights> past = {};  // what would be published again, if the run was resumed
  };

  // events
  void on(const msg::build&);
  void on(const msg::begin&);
  void on(const msg::rows&);
  void on(const msg::credit&);
  void on(const msg::end&);
  void on(const msg::published&);
  void on(msg::reply&& answer);
  void on(const msg::emitted& some);
  void on(const msg::stop&);
  void on(const msg::abort&);
  void on(const msg::tick&);
  void on(msg::call&& wanted);
  void on(const msg::claim& by) { clients_.claim(by, out_); }
  void on(msg::claimed&& outcome) { clients_.arrived(std::move(outcome)); }
  void on(const msg::forget& what) { clients_.forget(what); }
  void on(const msg::call_off& what);
  void on(const msg::asked&);
  void on(const msg::lost& what);
  void on(const msg::back& what);
  void on(const msg::node_lost& what);
  template <class Other>
  void on(const Other&);  // a message that no router gets

  // what to do next
  void advance();
  bool start_loads();
  bool start_source();
  bool start_data(std::size_t input);
  void start_client_calls();
  void join_rows(std::size_t input, std::size_t side, const batch& rows);
  void end_side(std::size_t input, std::size_t side);
  void start_states(std::size_t endpoint);
  void end_stream();
  void advance_stop();
  bool flush_publications();
  void pass_tombstones(const batch& rows, std::size_t input);
  void close(std::optional<duration> patience);

  // going on later, and from earlier
  void resume();
  void publish_again(series& of);
  void remember(series& of);
  void start_save(std::size_t endpoint);
  bool save_last();
  void ask_to_save();
  void finish_save(save_call&& save, const weights& state);
  void note_trained(const batch& rows, const data_call& call, std::size_t endpoint);
  void emit_source(std::size_t endpoint, const batch& rows);
  void end_source(std::size_t endpoint);
  void take_in(std::size_t input, const batch& rows);
  void give_back(const stage_plan::in& in, std::size_t taken);
  [[nodiscard]] batch outstanding(const batch& rows) const;

  // rows on other nodes
  [[nodiscard]] std::optional<batch> without_gone(const batch& rows, const stage_plan::in& in);
  [[nodiscard]] bool must_gather(const stage_plan::in& in, const batch& rows) const;
  void gather(gather_call&& what);
  void gather_again();
  void gathered(under_way& call, const result<collected>& value);
  [[nodiscard]] bool gathers() const { return stalled_ || any<gather_call>(); }
  void gather_without(std::size_t worker, const std::string& cause);
  void stall(gather_call&& what, fault why);
  void start_rows(const gather_call& of, std::optional<route::call_id> gathered);

  // calls
  [[nodiscard]] static route::call call_of(const blueprint::endpoint_spec& spec, payload input);
  void start(purpose why, std::size_t endpoint, payload input, std::int64_t version,
             std::optional<route::call> how = std::nullopt, std::optional<route::call_id> gathered = std::nullopt);
  void start_clock();
  void settle(route::outcome outcome);
  void finish(under_way& call, collected value);
  [[nodiscard]] std::string waits_for() const;
  void recover();
  void lose(std::size_t worker, const std::string& cause, bool returns);
  void replace(std::size_t worker);
  [[nodiscard]] static batch with_lost_children(const batch& rows, const stage_plan::in& in, std::uint32_t depth);
  void release_data();
  void deliver(under_way& call);
  void emit(std::size_t endpoint, const batch& rows);
  void pass_on(const msg::reply& answer);
  [[nodiscard]] bool streams(std::size_t endpoint) const;
  [[nodiscard]] bool hands_out(const under_way& call) const;
  [[nodiscard]] under_way* call_under_way(route::call_id call);
  [[nodiscard]] data_call* streaming(route::call_id call);
  [[nodiscard]] static batch by_identity(const batch& rows);
  void identify(payload& input);
  void name_new_rows(collected& outcome);
  [[nodiscard]] static batch numbered(const batch& rows, std::uint32_t source, std::uint64_t& sequence);
  [[nodiscard]] static batch new_rows(const batch& rows, std::uint32_t source, std::uint64_t& sequence);
  void publish(series& of, std::int64_t version, const weights& value);
  void report_gone(std::vector<std::string> abandoned);
  void fail(fault why);

  void prepare(const batch& rows, data_call& call, const stage_plan::in& in);
  [[nodiscard]] batch stamped(const batch& rows) const;
  [[nodiscard]] bool open_for(std::size_t endpoint, std::size_t expected) const;
  [[nodiscard]] std::size_t data_under_way() const;
  template <class Purpose>
  [[nodiscard]] bool any() const {
    return std::any_of(under_way_.begin(), under_way_.end(),
                       [](const under_way& call) { return std::holds_alternative<Purpose>(call.why); });
  }
  [[nodiscard]] std::int64_t version() const;
  [[nodiscard]] std::string name_of(const under_way& call) const;
  [[nodiscard]] bool ready_for_rows() const;
  void send(const address& to, message content) { out_.push_back({to, std::move(content)}); }

  stage_plan plan_;
  stage_policies policies_;
  route::machine calls_;
  phase phase_ = phase::idle;
  std::deque<inlet> inlets_;
  std::deque<std::optional<join>> joins_;  // by inputs: those of zipped edges
  std::vector<outlet> outlets_;  // by plan_.outputs
  std::vector<subscription> subscriptions_;
  std::vector<series> series_;
  std::deque<under_way> under_way_;  // in order of calls
  client_calls clients_;
  std::uint64_t sequence_ = 0;       // of the next row that the source emits
  std::uint64_t called_rows_ = 0;    // that clients gave without identities
  std::size_t steps_started_ = 0;
  std::size_t steps_ended_ = 0;
  trained_rows trained_;             // where the stage keeps
  std::size_t saved_ = 0;            // the last step that was asked for
  batch held_back_;                  // what is left of source batches of which rows were trained before
  bool exhausted_ = false;           // the source
  bool end_sent_ = false;
  std::int64_t await_version_ = -1;
  std::vector<std::string> unfinished_;  // bodies that were running when the run was given up, by worker
  std::vector<std::string> left_alone_;  // bodies that did not end, and were replaced
  std::size_t respawns_ = 0;
  std::set<std::size_t> awaited_;    // workers that are gone, and are replaced once they can be
  std::optional<gather_call> stalled_;  // its rows could not be fetched yet
  std::uint64_t answers_ = 0;
  row_account account_;
  time_point now_{};
  outbox out_;
};

}  // namespace twinkle
