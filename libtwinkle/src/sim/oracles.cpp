// SPDX-License-Identifier: Apache-2.0
#include "twinkle/sim/oracles.hpp"

#include <array>

#include "oracle.hpp"
#include "watch_rows.hpp"

namespace twinkle::sim {

std::string to_string(const violation& found) {
  return "at " + twinkle::to_string(found.at) + " " + found.oracle + ": " + found.what;
}

struct oracles::watch {
  watch(const blueprint& plan, const std::vector<stage_plan>& stages) : in(plan, stages), rows(in) {}

  scene in;
  row_oracle rows;
  std::array<std::unique_ptr<oracle>, 6> others{watch_order(in),    watch_groups(in),  watch_staleness(in),
                                                watch_versions(in), watch_credits(in), watch_drains(in)};

  template <class Event, class... Args>
  void tell(Event event, const Args&... args) {
    (rows.*event)(args...);
    for (const auto& each : others)
      (each.get()->*event)(args...);
  }

  // Of what is about to be received: what the oracles know of, and nothing else.
  void deliver(const address& to, const message& what) {
    const auto stage = static_cast<std::size_t>(to.stage);
    const auto worker = static_cast<std::size_t>(to.index);
    if (const auto* task = std::get_if<msg::task>(&what))
      tell(&oracle::on_task, stage, worker, *task);
    else if (const auto* reply = std::get_if<msg::reply>(&what))
      tell(&oracle::on_reply, stage, *reply);
    else if (const auto* given = std::get_if<msg::rows>(&what))
      tell(&oracle::on_rows, *given);
    else if (const auto* credit = std::get_if<msg::credit>(&what))
      tell(&oracle::on_credit, *credit);
    else if (const auto* emitted = std::get_if<msg::emitted>(&what))
      tell(&oracle::on_emitted, stage, *emitted);
    else if (const auto* published = std::get_if<msg::published>(&what))
      tell(&oracle::on_published, stage, *published);
    else if (const auto* lost = std::get_if<msg::lost>(&what))
      tell(&oracle::on_gone, stage, lost->worker);
    else if (std::holds_alternative<msg::abandon>(what) && to.stage >= 0)
      tell(&oracle::on_gone, stage, worker);
    else if (const auto* setback = std::get_if<msg::setback>(&what))
      tell(&oracle::on_setback, *setback);
    else if (const auto* finished = std::get_if<msg::finished>(&what))
      tell(&oracle::on_finished, *finished);
  }
};

oracles::oracles(const blueprint& plan, const std::vector<stage_plan>& stages)
    : watch_(std::make_unique<watch>(plan, stages)) {}
oracles::~oracles() = default;

void oracles::on_delivery(time_point now, const address&, const address& to, const message& what) {
  watch_->in.now = now;
  ++watch_->in.deliveries;
  watch_->deliver(to, what);
}

void oracles::on_mishap(time_point now, const mishap& what) {
  watch_->in.now = now;
  watch_->tell(&oracle::on_mishap, what);
}

void oracles::on_undelivered(time_point now, std::span<const in_flight> messages) {
  watch_->in.now = now;
  watch_->tell(&oracle::on_undelivered, messages);
}

void oracles::on_end(time_point now, const run_report& report, bool ended) {
  watch_->in.now = now;
  watch_->tell(&oracle::on_end, report, ended);
}

std::vector<violation> oracles::found() const {
  std::vector<violation> all = watch_->rows.found();
  for (const auto& each : watch_->others)
    all.insert(all.end(), each->found().begin(), each->found().end());
  return all;
}

std::vector<row_at> oracles::lost() const { return watch_->rows.lost(); }

}  // namespace twinkle::sim
