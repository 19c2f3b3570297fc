// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "baton.hpp"
#include "twinkle/base/digest.hpp"
#include "twinkle/flow/seams.hpp"
#include "twinkle/sim/observer.hpp"

namespace twinkle::sim {

/// A world of virtual time. Whatever may happen next is one of: a message at the head of a link, a body that can go on.
/// The chooser picks; when nothing can happen, time goes on to the next timer. Everything runs on the caller's thread,
/// but for bodies, which hold the baton while they run.
class world final : public clock_seam, public post_seam, public life_seam, public executor_seam {
 public:
  explicit world(chooser_seam& chooser) : chooser_(chooser) {}
  ~world() override;

  [[nodiscard]] time_point now() const override { return now_; }
  void wake(const address& who, time_point when) override;
  void post(const address& from, const address& to, message&& content) override;
  void spawn(const address& who, std::unique_ptr<actor_role> role) override;
  [[nodiscard]] std::unique_ptr<body_seam> make(const std::string& name, bodies kind) override;

  [[nodiscard]] seams all() { return {*this, *this, *this, *this}; }

  /// Sees what happens from now on.
  void watch(std::vector<observer*> observers) { observers_ = std::move(observers); }

  /// Calls `what` at `when`, before anything else that is due then.
  void at(time_point when, std::function<void()> what);

  /// Goes on until `done`, or until `end` of virtual time, or until nothing can happen any more. Returns whether it was
  /// done.
  bool run(const std::function<bool()>& done, time_point end);

  /// A hash of what happened, in order, without ids of threads and without pointers.
  [[nodiscard]] std::uint64_t history() const { return history_.value(); }
  [[nodiscard]] std::size_t events() const { return events_; }

 private:
  class body;

  struct link {
    address from;
    address to;
    std::deque<message> waiting = {};
    std::uint64_t delivered = 0;
  };

  void deliver(link& on);
  void resume(body& which);
  bool fire(time_point end);
  void note(std::uint64_t kind, std::uint64_t a, std::uint64_t b, std::uint64_t c);

  chooser_seam& chooser_;
  std::vector<observer*> observers_;
  time_point now_{};
  std::map<address, std::unique_ptr<actor_role>> actors_;
  std::map<std::pair<address, address>, link> links_;
  std::vector<link*> loaded_;  // links with messages
  std::vector<body*> ready_;   // bodies that can go on
  std::map<std::uint64_t, body*> living_;
  std::multimap<time_point, std::function<void()>> timers_;
  std::uint64_t bodies_ = 0;
  digest history_;
  std::size_t events_ = 0;
};

}  // namespace twinkle::sim
