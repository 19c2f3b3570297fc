// SPDX-License-Identifier: Apache-2.0
// Each task has one answer, and a run ends: what goes wrong for a while holds it up, but not for ever.
#include <algorithm>
#include <set>

#include "open_tasks.hpp"
#include "oracle.hpp"
#include "twinkle/base/list.hpp"

namespace twinkle::sim {
namespace {

class drain_oracle final : public oracle {
 public:
  explicit drain_oracle(const scene& in) : oracle(in, "drains"), tasks_(in) {
    for (const stage_plan& stage : in.stages) {
      presence_.emplace_back(stage.workers.size());
      for (const blueprint::endpoint_spec& each : stage.endpoints)
        if (each.deadline != no_deadline)
          patience_ = std::max(patience_, each.deadline);
    }
  }

  void on_rows(const msg::rows&) override { moved(); }
  void on_emitted(std::size_t, const msg::emitted&) override { moved(); }

  void on_task(std::size_t stage, std::size_t worker, const msg::task& task) override {
    presence& of = presence_[stage][worker];
    if (task.what == msg::task::kind::construct)
      of.here = true;
    if (of.here)
      tasks_.began(stage, worker, task);
  }

  void on_reply(std::size_t stage, const msg::reply& answer) override {
    moved();
    if (tasks_.answered(stage, answer.worker, answer.call))
      return;
    // One that was given up may still answer, and its node says in its place, once, that it cannot be given a task.
    presence& of = presence_[stage][answer.worker];
    if (!of.was_gone && (answer.value || !of.not_given.insert(answer.call).second))
      find(in_.place(stage, answer.worker) + " answers what it was not asked, or has answered before");
  }

  void on_gone(std::size_t stage, std::size_t worker) override {
    presence_[stage][worker] = {.here = false, .was_gone = true};
    tasks_.gone(stage, worker);
  }

  void on_mishap(const mishap& what) override { quiet_since_ = std::max(quiet_since_, what.at + what.lasts); }

  // A run whose time was cut short may have been on its way.
  void on_end(const run_report& report, bool ended) override {
    if (!ended && in_.now - quiet_since_ > patience_)
      find("the run did not end, and nothing has moved for " + twinkle::to_string(in_.now - quiet_since_) + open());
    if (ended && report.good() && !open().empty())
      find("the run ended" + open());
  }

 private:
  struct presence {
    bool here = true;
    bool was_gone = false;
    std::set<route::call_id> not_given = {};
  };

  void moved() { quiet_since_ = std::max(quiet_since_, in_.now); }

  // "; no answer from sampler[dp=1] in sample"
  [[nodiscard]] std::string open() const {
    std::vector<std::string> silent;
    for (const stage_plan& stage : in_.stages)
      for (std::size_t worker = 0; worker < stage.workers.size(); ++worker)
        for (const open_tasks::task& each : tasks_.of(stage.ordinal, worker))
          silent.push_back(in_.place(stage.ordinal, worker) + " in " + name_of(stage, each));
    return silent.empty() ? "" : "; no answer from " + list(silent);
  }

  static std::string name_of(const stage_plan& stage, const open_tasks::task& of) {
    switch (of.what) {
      case msg::task::kind::construct: return "constructor";
      case msg::task::kind::destroy: return "destructor";
      case msg::task::kind::run:
      case msg::task::kind::gather: break;
    }
    return stage.endpoints[of.endpoint].name;
  }

  open_tasks tasks_;
  std::vector<std::vector<presence>> presence_;  // by stage and worker
  time_point quiet_since_{};
  duration patience_ = std::chrono::minutes(10);  // a constructor's
};

}  // namespace

std::unique_ptr<oracle> watch_drains(const scene& in) { return std::make_unique<drain_oracle>(in); }

}  // namespace twinkle::sim
