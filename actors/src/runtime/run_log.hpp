// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "twinkle/flow/run_report.hpp"
#include "twinkle/flow/seams.hpp"
#include "twinkle/runtime/checkpoint_folder.hpp"

namespace twinkle::runtime {

/// One JSON object: the step, its metrics, what the engine knows of it, and the seconds by stage.
[[nodiscard]] std::string to_json(const step_record& step, const std::vector<std::string>& stages);

/// "step 3  reward_mean 0.4  version 3  staleness 0  rows 256"
[[nodiscard]] std::string in_words(const step_record& step);

/// Tells a person how a run goes, and writes metrics.jsonl while it does.
class run_log final : public run_listener {
 public:
  /// Without a folder nothing is written. An older metrics.jsonl is replaced, or of a run that goes on behind `step`
  /// cut back to that. Throws `error` where it has fewer steps.
  run_log(std::vector<std::string> stages, std::string folder, files_seam& files, std::ostream& out,
          std::size_t step = 0);

  /// What is saved goes there.
  void save_in(checkpoint_folder& kept) { kept_ = &kept; }

  void on_step(const step_record& step) override;
  void on_graded(const std::string& stage, std::int64_t version, const metrics& values) override;
  void on_setback(const fault& why, std::size_t lost) override;
  void on_standing(const std::vector<stage_standing>& stages) override;
  void on_quiet(duration since, const std::vector<std::string>& waits) override;
  void on_saved(const checkpoint& made) override;
  void on_fault(const fault& why) override;
  void on_interrupt(const std::string& what) override;

  /// The last words, and the weights.
  void conclude(const run_report& report);

 private:
  struct first_and_last {
    std::int64_t first = 0;
    std::int64_t last = 0;
    metrics before;
    metrics after;
  };

  std::vector<std::string> stages_;
  std::string folder_;
  std::ostream& line();

  files_seam& files_;
  std::ostream& out_;
  std::size_t steps_ = 0;
  std::size_t on_line_ = 0;  // characters of the line that is overwritten
  checkpoint_folder* kept_ = nullptr;
  std::map<std::string, first_and_last> grades_;
};

}  // namespace twinkle::runtime
