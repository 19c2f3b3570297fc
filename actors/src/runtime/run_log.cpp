// SPDX-License-Identifier: Apache-2.0
#include "run_log.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

#include "twinkle/base/digest.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/data/safetensors.hpp"

namespace twinkle::runtime {
namespace {

// The shortest text that reads back as the same number, so that equal runs have equal files.
std::string number(double value) {
  if (!std::isfinite(value))
    return "null";
  std::array<char, 64> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::string shorter(double value, const char* format = "%.4g") {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string field(const std::string& name, const std::string& value) { return "\"" + name + "\": " + value; }

std::string in_words(const metrics& values) {
  std::string text;
  for (const metric& each : values.items())
    text += "  " + each.name + " " + shorter(each.value);
  return text;
}

// The lines of the first so many steps; of a file that is gone, none.
std::string first_steps(files_seam& files, const std::string& path, std::size_t steps) {
  const std::string all = files.read(path).value_or("");
  std::size_t end = 0;
  for (std::size_t step = 1; step <= steps && !all.empty(); ++step) {
    const std::size_t line_end = all.find('\n', end);
    if (line_end == std::string::npos || !std::string_view(all).substr(end).starts_with("{" + field("step", std::to_string(step)) + ","))
      throw error("'" + path + "' has " + std::to_string(step - 1) + " of the " + std::to_string(steps) +
                  " steps that are saved beside it, and then something else; put the right one back, or move it away "
                  "to go on without it");
    end = line_end + 1;
  }
  return all.substr(0, end);
}

}  // namespace

std::string to_json(const step_record& step, const std::vector<std::string>& stages) {
  std::string text = "{" + field("step", std::to_string(step.step));
  for (const metric& each : step.values.items())
    text += ", " + field(each.name, number(each.value));
  text += ", " + field("weights_version", std::to_string(step.version));
  text += ", " + field("staleness_max", std::to_string(step.staleness_max));
  text += ", " + field("rows", std::to_string(step.rows));
  text += ", " + field("tombstones", std::to_string(step.tombstones));
  text += ", " + field("rows_digest", "\"" + hexadecimal(step.digest) + "\"");
  text += ", \"seconds\": {";
  for (std::size_t stage = 0; stage < step.times.busy.size(); ++stage)
    text += field(stages[stage], shorter(seconds(step.times.busy[stage]), "%.6f")) + ", ";
  text += field("no_body", shorter(seconds(step.times.idle), "%.6f")) + ", ";
  return text + field("step", shorter(seconds(step.times.whole), "%.6f")) + "}}";
}

std::string in_words(const step_record& step) {
  return "step " + std::to_string(step.step) + in_words(step.values) + "  version " + std::to_string(step.version) +
         "  staleness " + std::to_string(step.staleness_max) + "  rows " + std::to_string(step.rows);
}

run_log::run_log(std::vector<std::string> stages, std::string folder, files_seam& files, std::ostream& out,
                 std::size_t step)
    : stages_(std::move(stages)), folder_(std::move(folder)), files_(files), out_(out) {
  if (folder_.empty())
    return;
  const std::string path = folder_ + "/metrics.jsonl";
  files_.replace(path, step == 0 ? "" : first_steps(files_, path, step));
}

void run_log::on_saved(const checkpoint& made) {
  if (kept_ != nullptr)
    kept_->write(made);
}

void run_log::on_step(const step_record& step) {
  if (!folder_.empty())
    files_.append(folder_ + "/metrics.jsonl", to_json(step, stages_) + "\n");
  steps_ = step.step;
  line() << in_words(step) << "  " << shorter(seconds(step.times.whole), "%.3f") << " s ("
       << shorter(seconds(step.times.idle) * 1e3, "%.1f") << " ms no body)" << std::endl;
}

void run_log::on_graded(const std::string& stage, std::int64_t version, const metrics& values) {
  line() << stage << in_words(values) << "  version " << version << std::endl;
  const auto [entry, fresh] = grades_.try_emplace(stage, first_and_last{version, version, values, values});
  entry->second.last = version;
  entry->second.after = values;
}

// A line that stays, in the place of the one that shows how it stands.
std::ostream& run_log::line() {
  if (on_line_ > 0)
    out_ << "\r" << std::string(std::exchange(on_line_, 0), ' ') << "\r";
  return out_;
}

void run_log::on_standing(const std::vector<stage_standing>& stages) {
  std::string text = "step " + std::to_string(steps_ + 1);
  for (std::size_t at = 0; at < stages.size() && at < stages_.size(); ++at) {
    const stage_standing& each = stages[at];
    if (each.rows > 0 || each.held > 0)
      text += "  " + stages_[at] + " " + std::to_string(each.done) + "/" + std::to_string(each.rows) +
              (each.held > 0 ? "+" + std::to_string(each.held) : "");
  }
  text.resize(std::min<std::size_t>(text.size(), 100));
  const std::size_t before = std::exchange(on_line_, text.size());
  out_ << "\r" << text << std::string(before - std::min(before, text.size()), ' ') << std::flush;
}

void run_log::on_quiet(duration since, const std::vector<std::string>& waits) {
  line() << "quiet   nothing has moved for " << to_string(since) << "\n";
  for (const std::string& each : waits)
    out_ << "        " << each << "\n";
  out_.flush();
}

void run_log::on_setback(const fault& why, std::size_t lost) {
  line() << "setback " << to_string(why) << (lost > 0 ? " (" + std::to_string(lost) + " rows lost)" : "") << std::endl;
}

void run_log::on_fault(const fault& why) { line() << "fault   " << to_string(why) << std::endl; }

void run_log::on_interrupt(const std::string& what) { line() << "interrupted: " << what << std::endl; }

void run_log::conclude(const run_report& report) {
  line();
  for (const auto& [stage, seen] : grades_)
    for (const metric& each : seen.after.items())
      if (const auto before = seen.before.find(each.name))
        out_ << stage << "  " << each.name << " before " << shorter(*before) << " (version " << seen.first
             << "), after " << shorter(each.value) << " (version " << seen.last << ")\n";
  out_ << "rows    emitted " << report.emitted << ", trained " << report.trained << ", returned " << report.returned
       << "\n";
  if (report.setbacks > 0)
    out_ << "setbacks  " << report.setbacks << ", " << report.lost << " rows lost\n";
  for (const std::string& each : report.abandoned)
    out_ << "abandoned  " << each << ", which did not end\n";
  if (!folder_.empty()) {
    out_ << "wrote   " << folder_ << "/metrics.jsonl";
    if (report.newest) {
      const auto bytes = to_safetensors(*report.newest);
      files_.replace(folder_ + "/model.safetensors", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      out_ << ", " << folder_ << "/model.safetensors (version " << report.newest->version() << ")";
    }
    out_ << "\n";
    if (kept_ != nullptr && kept_->step())
      out_ << "saved   " << kept_->path() << " (step " << *kept_->step() << ")\n";
  }
  out_.flush();
}

}  // namespace twinkle::runtime
