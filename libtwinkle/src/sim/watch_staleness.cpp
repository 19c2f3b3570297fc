// SPDX-License-Identifier: Apache-2.0
// No row is trained beyond its bound: by a count of steps of our own, and the versions that the rows carry.
#include "oracle.hpp"

namespace twinkle::sim {
namespace {

class staleness_oracle final : public oracle {
 public:
  explicit staleness_oracle(const scene& in) : oracle(in, "staleness") {
    for (const stage_plan& stage : in.stages)
      steps_.emplace_back(stage.workers.size(),
                          std::vector<std::int64_t>(stage.inputs.size(), before(stage)));
  }

  // Every worker is called in every step.
  void on_task(std::size_t stage, std::size_t worker, const msg::task& task) override {
    const auto input = task.what == msg::task::kind::run ? in_.input_of(stage, task.endpoint) : std::nullopt;
    if (!input)
      return;
    const auto bound = in_.stages[stage].inputs[*input].max_staleness;
    const auto* rows = std::get_if<batch>(&task.input);
    if (!bound || rows == nullptr)
      return;
    const std::int64_t step = ++steps_[stage][worker][*input];
    for (const row_tag& tag : tags_of(*rows)) {
      const std::int64_t age = step - 1 - tag.version;
      if (tag.version != row_tag::unsampled && age > static_cast<std::int64_t>(*bound))
        find(row(tag.id) + " is trained in step " + std::to_string(step) + " by " + in_.place(stage, worker) +
             ", sampled with version " + std::to_string(tag.version) + ": " + std::to_string(age) +
             " versions old; the bound is " + std::to_string(*bound));
    }
  }

 private:
  static std::int64_t before(const stage_plan& stage) {
    return stage.resumed ? static_cast<std::int64_t>(stage.resumed->step) : 0;
  }

  std::vector<std::vector<std::vector<std::int64_t>>> steps_;  // by stage, worker and input
};

}  // namespace

std::unique_ptr<oracle> watch_staleness(const scene& in) { return std::make_unique<staleness_oracle>(in); }

}  // namespace twinkle::sim
