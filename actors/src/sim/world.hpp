// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "baton.hpp"
#include "twinkle/base/digest.hpp"
#include "twinkle/flow/seams.hpp"
#include "twinkle/sim/observer.hpp"
#include "twinkle/sim/simulate.hpp"

namespace twinkle::sim {

/// Which nodes there are, and where workers are. Everyone else is on the first node.
struct terrain {
  std::size_t nodes = 1;
  std::vector<std::vector<std::size_t>> workers = {};  ///< node, by stage and worker
  std::map<std::string, std::size_t> bodies = {};      ///< node, by the name of the body

  [[nodiscard]] std::size_t node_of(const address& who) const {
    return who.stage >= 0 && who.index >= 0
               ? workers[static_cast<std::size_t>(who.stage)][static_cast<std::size_t>(who.index)]
               : 0;
  }
};

class simulated_nodes;

/// A world of virtual time. Whatever may happen next is one of: a message that has come to its actor's node, a body that
/// can go on. The chooser picks; when nothing can happen, time goes on to the next timer. Everything runs on the
/// caller's thread, but for bodies, which hold the baton while they run.
class world final : public clock_seam, public post_seam, public life_seam, public executor_seam {
 public:
  world(chooser_seam& chooser, terrain where, std::vector<observer*> observers = {});
  ~world() override;

  [[nodiscard]] time_point now() const override { return now_; }
  void wake(const address& who, time_point when) override;
  void post(const address& from, const address& to, message&& content) override;
  /// Without a role it is made on its own node.
  void spawn(const address& who, std::unique_ptr<actor_role> role) override;
  [[nodiscard]] std::unique_ptr<body_seam> make(const std::string& name, bodies kind) override;

  [[nodiscard]] seams all() { return {*this, *this, *this, *this}; }
  [[nodiscard]] const terrain& where() const { return where_; }

  /// Calls `what` at `when`, before anything else that is due then.
  void at(time_point when, std::function<void()> what);

  /// From now on messages go by way of their nodes.
  void connect(simulated_nodes* nodes) { nodes_ = nodes; }
  /// An actor is there, in place of one that was.
  void house(const address& who, std::unique_ptr<actor_role> role);
  /// A message is there: its actor may receive it.
  void arrive(const address& from, const address& to, message&& content);
  /// Calls `what` at once, or when its node is not frozen any more.
  void on(std::size_t node, std::function<void()> what);

  /// An actor is gone, with its body and whatever has come for it.
  void kill(const address& who);
  /// All actors are gone, and whatever has come for them.
  void dismiss_all();
  /// Nothing happens on a node.
  void freeze(std::size_t node);
  /// Undoes one freeze; several may overlap.
  void thaw(std::size_t node);
  [[nodiscard]] bool frozen(std::size_t node) const { return frozen_[node] > 0; }
  /// Weights that are sent to a stage arrive at `when` at the earliest.
  void delay_weights(std::size_t stage, time_point when);
  void tell(const mishap& what);

  /// Goes on until `done`, or until `end` of virtual time, or until nothing can happen any more, or until `idle_max` events
  /// have passed while time stood and no rows went from stage to stage. Returns whether it was done.
  bool run(const std::function<bool()>& done, time_point end, std::size_t idle_max);

  /// What has come and was not received.
  [[nodiscard]] std::vector<observer::in_flight> undelivered() const;

  /// A hash of what happened, in order, without ids of threads and without pointers.
  [[nodiscard]] std::uint64_t history() const { return history_.value(); }
  [[nodiscard]] std::size_t events() const { return events_; }

 private:
  class body;

  /// Messages from one actor to another that have come to its node. One that can be picked knows its place among them.
  struct link {
    address from;
    address to;
    std::deque<message> waiting = {};
    std::size_t place = 0;
  };
  struct pair_hash {
    std::size_t operator()(const std::pair<address, address>& of) const;
  };

  void catch_up(std::size_t node);
  void offer(link& on);
  void withdraw(link& on);
  void forget_what_is_for(const address& who);
  void deliver(link& on);
  void resume(body& which);
  bool fire(time_point end);
  void note_step(const step_record& step);
  void note(std::uint64_t kind, std::uint64_t a, std::uint64_t b, std::uint64_t c);

  chooser_seam& chooser_;
  terrain where_;
  simulated_nodes* nodes_ = nullptr;  // null: there is one
  std::vector<observer*> observers_;
  time_point now_{};
  std::map<address, std::unique_ptr<actor_role>> actors_;
  std::unordered_map<std::pair<address, address>, link, pair_hash> links_;
  std::vector<link*> loaded_;  // that can be picked
  std::vector<body*> ready_;   // that can go on
  std::map<std::uint64_t, body*> living_;
  std::multimap<time_point, std::function<void()>> timers_;
  std::vector<std::size_t> frozen_;            // how many times, by node
  std::vector<link*> held_back_;               // to actors on frozen nodes
  std::vector<body*> held_up_;                 // on frozen nodes
  std::list<std::pair<std::size_t, std::function<void()>>> held_off_;
  std::map<std::size_t, time_point> late_;     // until when weights for a stage are late
  std::list<message> held_late_;
  bool muted_ = false;                         // what those say who are torn down
  bool dismissed_ = false;                     // all actors are
  std::uint64_t bodies_ = 0;
  digest history_;
  std::size_t events_ = 0;
  std::size_t moved_ = 0;  // events, when time last went on, or rows did
};

}  // namespace twinkle::sim
