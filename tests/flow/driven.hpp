// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>

#include "numbered.hpp"
#include "pipelines.hpp"
#include "twinkle/flow/stage_machine.hpp"
#include "twinkle/place/layout.hpp"

namespace flow_test {

/// A stage's machine, with workers that answer when the test says so, and what it posts to others.
class driven {
 public:
  explicit driven(twinkle::stage_plan plan, twinkle::stage_policies policies = {})
      : plan_(std::move(plan)), machine_(plan_, std::move(policies)), open_(plan_.workers.size()) {}

  void tell(const twinkle::message& content) {
    for (twinkle::envelope& each : machine_.receive(twinkle::message(content), now)) {
      if (const auto* task = std::get_if<twinkle::msg::task>(&each.content)) {
        const auto worker = static_cast<std::size_t>(each.to.index);
        twinkle::msg::task given = *task;
        if (given.gathered) {
          REQUIRE(gathered_.at(worker).call == *given.gathered);
          given.input = gathered_.extract(worker).mapped().input;
        } else if (given.what == twinkle::msg::task::kind::gather) {
          gathered_[worker] = given;
        }
        open_.at(worker).push_back(given);
        order_[worker].push_back(name_of(given));
      } else {
        posted.push_back(std::move(each));
      }
    }
  }

  /// The oldest task of a worker is answered with what its endpoint would return, or with `value`.
  void answer(std::size_t worker) {
    const twinkle::msg::task task = take(worker);
    tell(twinkle::msg::reply{worker, task.call, value_of(task)});
  }
  void answer(std::size_t worker, twinkle::result<twinkle::payload> value) {
    const twinkle::msg::task task = take(worker);
    tell(twinkle::msg::reply{worker, task.call, std::move(value)});
  }
  /// Until no worker has anything to do.
  void answer_all() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t worker = 0; worker < open_.size(); ++worker)
        if (!open_[worker].empty()) {
          answer(worker);
          moved = true;
        }
    }
  }
  void start() {
    tell(twinkle::msg::build{});
    answer_all();
    tell(twinkle::msg::begin{});
  }

  [[nodiscard]] const std::deque<twinkle::msg::task>& open(std::size_t worker) const { return open_[worker]; }
  /// "constructor", "load 0", "sample 4", …: all tasks that a worker was given, in order; data with its rows.
  [[nodiscard]] const std::vector<std::string>& order(std::size_t worker) { return order_[worker]; }

  template <class Message>
  [[nodiscard]] std::vector<Message> all() const {
    std::vector<Message> found;
    for (const twinkle::envelope& each : posted)
      if (const auto* content = std::get_if<Message>(&each.content))
        found.push_back(*content);
    return found;
  }

  [[nodiscard]] const twinkle::stage_plan& plan() const { return plan_; }
  [[nodiscard]] std::optional<twinkle::time_point> next_deadline() const { return machine_.next_deadline(); }

  twinkle::time_point now{};
  std::vector<twinkle::envelope> posted;

 private:
  [[nodiscard]] twinkle::msg::task take(std::size_t worker) {
    twinkle::msg::task task = open_.at(worker).at(0);
    open_[worker].pop_front();
    return task;
  }

  [[nodiscard]] std::string name_of(const twinkle::msg::task& task) const {
    if (task.what == twinkle::msg::task::kind::construct)
      return "constructor";
    if (task.what == twinkle::msg::task::kind::destroy)
      return "destructor";
    const auto& endpoint = plan_.endpoints[task.endpoint];
    if (task.what == twinkle::msg::task::kind::gather)
      return "gather " + std::to_string(rows_of(task.input).rows());
    if (const auto* rows = std::get_if<twinkle::batch>(&task.input))
      return endpoint.name + " " + std::to_string(rows->rows());
    return endpoint.name + " " + std::to_string(task.version);
  }

  [[nodiscard]] twinkle::payload value_of(const twinkle::msg::task& task) {
    using role = twinkle::blueprint::role;
    if (task.what != twinkle::msg::task::kind::run)
      return {};
    switch (plan_.endpoints[task.endpoint].kind) {
      case role::source: return plain(plan_.emits_rows);
      case role::state:
      case role::save: return twinkle::weights{};
      case role::load:
      case role::restore: return {};
      case role::work:
      case role::called: break;
    }
    if (!plan_.endpoints[task.endpoint].target.returns_batch)
      return twinkle::metrics{}.sum("rows", static_cast<double>(rows_of(task.input).rows()));
    return children(rows_of(task.input), plan_.inputs.front().expected);
  }

  twinkle::stage_plan plan_;
  twinkle::stage_machine machine_;
  std::vector<std::deque<twinkle::msg::task>> open_;
  std::map<std::size_t, std::vector<std::string>> order_;
  std::map<std::size_t, twinkle::msg::task> gathered_;  // by worker
};

inline twinkle::stage_plan plan_of(const twinkle::graph& g, std::size_t stage) {
  return twinkle::place::lay_out(g.plan()).stages.at(stage);
}

}  // namespace flow_test
