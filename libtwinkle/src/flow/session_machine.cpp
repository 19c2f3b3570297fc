// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/session_machine.hpp"

#include <algorithm>
#include <map>

#include "twinkle/base/ensure.hpp"
#include "twinkle/base/list.hpp"

namespace twinkle {

session_machine::session_machine(std::string name, std::vector<session_stage> stages, limits bounds,
                                 run_listener& listener)
    : name_(std::move(name)),
      stages_(std::move(stages)),
      bounds_(bounds),
      listener_(listener),
      built_(stages_.size(), false),
      ended_(stages_.size(), false),
      finished_(stages_.size()),
      driver_gone_(!bounds_.driven),
      standings_(stages_.size()) {
  report_.steps = bounds_.resumed;
}

outbox session_machine::receive(const message& content, time_point now) {
  now_ = now;
  if (!done_)
    std::visit([this](const auto& event) { on(event); }, content);
  return std::exchange(out_, {});
}

void session_machine::to_all(const message& content) {
  for (std::size_t stage = 0; stage < stages_.size(); ++stage)
    if (!finished_[stage])
      out_.push_back({address::router(stage), content});
}

void session_machine::on(const msg::build&) {
  to_all(msg::build{});
  watch();
}

void session_machine::on(const msg::built& by) {
  built_[by.stage] = true;
  if (phase_ != phase::building || !std::all_of(built_.begin(), built_.end(), [](bool each) { return each; }))
    return;
  phase_ = phase::running;
  to_all(msg::begin{});
  if (!driver_gone_)
    out_.push_back({address::client(0), msg::begin{}});
  if (bounds_.steps > 0 && report_.steps >= bounds_.steps)
    stop();
}

void session_machine::on(const msg::driven& by) {
  driver_gone_ = true;
  if (phase_ != phase::running) {
    // It was told to end, and what it says of that is no news. Stages that still end have the time that they need.
    if (!report_.interrupted)
      deadline_ = std::nullopt;
  } else if (by.why) {
    abort(*by.why);
  } else {
    stop();
  }
  conclude_if_over();
}

// The driver is freed from whatever it waits for, and has as long as a body has to end.
void session_machine::end_driver(const fault& why) {
  if (driver_gone_)
    return;
  if (phase_ == phase::building)
    driver_gone_ = true;
  else
    out_.push_back({address::client(0), msg::cancel{std::nullopt, why}});
}

void session_machine::on(const msg::stepped& step) {
  // Steps that were under way when the run was stopped are done, and count.
  ++report_.steps;
  listener_.on_step(step.record);
  if (phase_ == phase::running && (report_.steps == bounds_.steps || report_.interrupted))
    stop();
}

void session_machine::on(const msg::graded& by) { listener_.on_graded(stages_[by.stage].name, by.version, by.values); }

void session_machine::on(const msg::newest& made) {
  if (!report_.newest || report_.newest->version() <= made.value.version())
    report_.newest = made.value;
}

void session_machine::on(const msg::setback& by) {
  ++report_.setbacks;
  report_.lost += by.what.dropped;
  listener_.on_setback(by.what.why, by.what.dropped);
}

void session_machine::on(const msg::saved& made) {
  try {
    listener_.on_saved(*made.value);
  } catch (const std::exception& wrong) {
    abort({name_, "", std::nullopt, "step " + std::to_string(made.value->step) + " could not be saved: " + wrong.what()});
  }
}

void session_machine::on(const msg::failed& by) { abort(by.why); }

void session_machine::on(const msg::ended& by) {
  ended_[by.stage] = true;
  for (std::size_t stage = 0; stage < stages_.size(); ++stage)
    if (stages_[stage].flows && !ended_[stage])
      return;
  if (phase_ == phase::running && driver_gone_)
    stop();
}

void session_machine::on(const msg::interrupt&) {
  if (phase_ == phase::stopping || phase_ == phase::aborting || report_.interrupted)
    return;
  report_.interrupted = true;
  if (phase_ == phase::running && bounds_.steps > 0) {
    deadline_ = now_ + bounds_.stop_patience;
    listener_.on_interrupt("stopping at the end of the step, in " + to_string(bounds_.stop_patience) + " at the latest");
    return;
  }
  listener_.on_interrupt("stopping");
  stop();
}

// First what rows flow through, so that the last weights are published; then those that look at them.
void session_machine::stop() {
  end_driver({name_, "", std::nullopt, "the run stops"});
  phase_ = phase::stopping;
  if (!deadline_)
    deadline_ = report_.interrupted || !driver_gone_ ? now_ + bounds_.stop_patience : std::optional<time_point>{};
  for (std::size_t stage = 0; stage < stages_.size(); ++stage)
    if (stages_[stage].flows)
      out_.push_back({address::router(stage), msg::stop{}});
  stop_observers();
}

void session_machine::stop_observers() {
  for (std::size_t stage = 0; stage < stages_.size(); ++stage)
    if (stages_[stage].flows && !finished_[stage])
      return;
  if (observers_stopped_)
    return;
  observers_stopped_ = true;
  for (std::size_t stage = 0; stage < stages_.size(); ++stage)
    if (!stages_[stage].flows) {
      const auto& watched = stages_[stage].watches;
      out_.push_back({address::router(stage), msg::stop{watched ? finished_[*watched]->version : -1}});
    }
}

void session_machine::abort(fault why) {
  if (phase_ == phase::aborting)
    return;
  end_driver(why);
  phase_ = phase::aborting;
  listener_.on_fault(why);
  report_.why = why;
  deadline_ = driver_gone_ ? std::nullopt : std::optional(now_ + bounds_.stop_patience);
  to_all(msg::abort{std::move(why), bounds_.stop_patience});
}

void session_machine::on(const msg::tick&) {
  watch();
  end_in_time();
}

void session_machine::end_in_time() {
  if (!deadline_ || now_ < *deadline_)
    return;
  deadline_ = std::nullopt;
  if (phase_ == phase::aborting) {
    driver_gone_ = true;
    report_.abandoned.push_back(name_ + "/driver");
    out_.push_back({address::client(0), msg::abandon{}});
    conclude_if_over();
    return;
  }
  std::vector<std::string> open;
  for (std::size_t stage = 0; stage < stages_.size(); ++stage)
    if (!finished_[stage])
      open.push_back(stages_[stage].name);
  if (!driver_gone_)
    open.emplace_back("the driver");
  abort({name_, "", std::nullopt,
         "the run was asked to stop, and " + list(open) + " did not end within " + to_string(bounds_.stop_patience)});
}

void session_machine::on(const msg::finished& by) {
  ensure(!finished_[by.stage], "a stage ends once");
  finished_[by.stage] = by;
  if (phase_ == phase::stopping)
    stop_observers();
  conclude_if_over();
}

void session_machine::conclude_if_over() {
  if (!done_ && driver_gone_ &&
      std::all_of(finished_.begin(), finished_.end(), [](const auto& each) { return each.has_value(); }))
    conclude();
}

void session_machine::conclude() {
  done_ = true;
  deadline_ = std::nullopt;
  std::map<std::size_t, std::size_t> travelling;
  for (const auto& each : finished_) {
    report_.emitted += each->rows.emitted;
    report_.trained += each->rows.trained;
    report_.returned += each->rows.held;
    for (const auto& [edge, rows] : each->rows.sent)
      travelling[edge] += rows;
    report_.abandoned.insert(report_.abandoned.end(), each->abandoned.begin(), each->abandoned.end());
  }
  for (const auto& each : finished_)
    for (const auto& [edge, rows] : each->rows.received)
      travelling[edge] -= rows;
  for (const auto& [edge, rows] : travelling)
    report_.returned += rows;
}

template <class Other>
void session_machine::on(const Other&) {
  ensure(false, "a message that a session gets");
}

}  // namespace twinkle
