// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "scene.hpp"
#include "twinkle/flow/message.hpp"

namespace twinkle::sim {

/// What each worker was given to do and has not answered.
class open_tasks {
 public:
  struct task {
    route::call_id call = 0;
    msg::task::kind what = msg::task::kind::run;
    std::size_t endpoint = 0;
  };

  explicit open_tasks(const scene& in) {
    for (const stage_plan& stage : in.stages)
      workers_.emplace_back(stage.workers.size());
  }

  void began(std::size_t stage, std::size_t worker, const msg::task& task) {
    workers_[stage][worker].push_back({task.call, task.what, task.endpoint});
  }
  /// What is answered; nothing if it was not asked for.
  [[nodiscard]] std::optional<task> answered(std::size_t stage, std::size_t worker, route::call_id call) {
    std::vector<task>& open = workers_[stage][worker];
    const auto found = std::find_if(open.begin(), open.end(), [&](const task& each) { return each.call == call; });
    if (found == open.end())
      return std::nullopt;
    const task done = *found;
    open.erase(found);
    return done;
  }
  void gone(std::size_t stage, std::size_t worker) { workers_[stage][worker].clear(); }

  [[nodiscard]] const std::vector<task>& of(std::size_t stage, std::size_t worker) const { return workers_[stage][worker]; }

 private:
  std::vector<std::vector<std::vector<task>>> workers_;
};

}  // namespace twinkle::sim
