// SPDX-License-Identifier: Apache-2.0
#include "twinkle/workers/jsonl_loader.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <span>
#include <system_error>

#include "data_file.hpp"
#include "twinkle/base/digest.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/data/jsonl_reader.hpp"
#include "twinkle/workers/columns.hpp"

namespace twinkle {
namespace {

constexpr std::uintmax_t counted_bytes_max = 64 << 20;  // a larger file is not read only to be counted

struct dataset {
  batch rows;
  std::uint64_t digest = 0;
};

dataset load_rows(data_file& file, jsonl_loader::bad_line bad_lines) {
  jsonl_reader reader;
  digest sum;
  std::size_t bad = 0;
  std::string first_bad;
  data_line line;
  while (file.next(line)) {
    try {
      reader.add(line.text, line.number);
      sum.add(digest_of(line.text));
    } catch (const error& wrong) {
      if (bad_lines == jsonl_loader::bad_line::stop)
        throw error(file.name() + ": " + wrong.what());
      if (bad++ == 0)
        first_bad = wrong.what();
    }
  }
  const std::string skipped = std::to_string(bad) + (bad == 1 ? " bad line" : " bad lines");
  if (reader.rows() == 0)
    throw error(file.name() + " has no rows" + (bad > 0 ? "; " + skipped + ", the first: " + first_bad : "") +
                "; it needs one JSON object a line");
  if (bad > 0)
    std::clog << file.name() + ": skipped " + skipped + " of " + std::to_string(bad + reader.rows()) +
                     ", the first: " + first_bad + "\n";
  return {reader.read(), sum.value()};
}

dataset load_places(data_file& file) {
  std::vector<std::int64_t> numbers;
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> bytes;
  std::vector<std::int64_t> digests;
  digest sum;
  data_line line;
  while (file.next(line)) {
    numbers.push_back(static_cast<std::int64_t>(line.number));
    offsets.push_back(static_cast<std::int64_t>(line.offset));
    bytes.push_back(static_cast<std::int64_t>(line.text.size()));
    const std::uint64_t of_line = digest_of(line.text);
    digests.push_back(static_cast<std::int64_t>(of_line));
    sum.add(of_line);
  }
  if (numbers.empty())
    throw error(file.name() + " has no rows; it needs one JSON object a line");
  const batch rows = batch{}
                         .with(columns::place_line, std::move(numbers))
                         .with(columns::place_offset, std::move(offsets))
                         .with(columns::place_bytes, std::move(bytes))
                         .with(columns::place_digest, std::move(digests));
  return {rows, sum.value()};
}

dataset load(const std::string& path, const jsonl_loader::options& how) {
  data_file file(path);
  if (how.holds == jsonl_loader::content::rows)
    return load_rows(file, how.bad_lines);
  if (how.bad_lines == jsonl_loader::bad_line::skip)
    throw error(file.name() + ": its lines are not read where only their places are held, so bad ones cannot be "
                "skipped; say so to jsonl_rows, which reads them");
  return load_places(file);
}

epoch_plan::options plan_of(std::size_t dataset_rows, const jsonl_loader::options& how) {
  return {dataset_rows, how.rows, how.last, how.epochs, how.mix_epochs, how.seed};
}

// Rows of a file that is not too large to be counted; 0 where that is not known.
std::size_t rows_in(const std::string& path) {
  std::error_code failed;
  const std::uintmax_t bytes = std::filesystem::file_size(path, failed);
  if (failed || bytes > counted_bytes_max || !std::filesystem::is_regular_file(path, failed))
    return 0;
  std::size_t rows = 0;
  try {
    data_file file(path);
    data_line line;
    while (file.next(line))
      ++rows;
  } catch (const error&) {
    return 0;  // the loader will say it
  }
  return rows;
}

std::size_t least_of(const std::string& path, const jsonl_loader::options& how, std::uint64_t first) {
  if (how.rows == 0)
    return 1;
  // Each batch is full, but for the rest of one.
  if (how.last == jsonl_loader::last_batch::drop || (how.mix_epochs && how.epochs == 0))
    return how.rows - first % how.rows;
  // With bad lines skipped, only parsing them all would tell how many rows are left.
  const std::size_t rows = how.bad_lines == jsonl_loader::bad_line::skip ? 0 : rows_in(path);
  return rows == 0 ? 1 : std::max<std::size_t>(epoch_plan(plan_of(rows, how)).least_after(first), 1);
}

}  // namespace

jsonl_loader::jsonl_loader(const std::string& path) : jsonl_loader(path, options{}) {}

jsonl_loader::jsonl_loader(const std::string& path, const options& how) : name_("data file '" + path + "'") {
  if (how.first > 0 && !how.state.empty())
    throw error(name_ + ": .first says that " + std::to_string(how.first) + " rows are behind, and .state names '" +
                how.state + "', which says it too; give one of them");
  dataset loaded = load(path, how);
  try {
    plan_ = epoch_plan(plan_of(loaded.rows.rows(), how));
  } catch (const error& bad) {
    throw error(name_ + ": " + bad.what());
  }
  dataset_ = std::move(loaded.rows);
  state_ = {0, dataset_.rows(), loaded.digest, how.rows, how.last, how.mix_epochs, how.seed};
  resume_from(how.first);
  if (how.state.empty())
    return;
  const loader_state before = loader_state::load(how.state);
  try {
    resume_from(before);
  } catch (const error& bad) {
    throw error("loader state '" + how.state + "': " + bad.what());
  }
}

void jsonl_loader::resume_from(std::uint64_t emitted) {
  if (emitted > plan_.rows_in_all())
    throw error(name_ + ": " + std::to_string(emitted) + " rows are said to be behind, but all its epochs have " +
                std::to_string(plan_.rows_in_all()) + "; ask for more epochs, or start from fewer rows");
  state_.emitted = emitted;
}

void jsonl_loader::resume_from(const loader_state& state) {
  if (const std::string differs = state.difference(state_); !differs.empty())
    throw error(name_ + " and the options are not those of the state, so the rows that follow would not be those that "
                "should; the state has, and here is: " + differs + "; give the same data and options, or start from a "
                "count with .first");
  resume_from(state.emitted);
}

std::optional<batch> jsonl_loader::next_rows() {
  const std::vector<epoch_plan::run> runs = plan_.batch_after(state_.emitted);
  if (runs.empty())
    return std::nullopt;
  std::vector<std::size_t> taken;
  for (const epoch_plan::run& each : runs) {
    state_.emitted += each.places.size();
    if (!state_.seed && runs.size() == 1)
      return dataset_[each.places];
    if (each.epoch != ordered_epoch_) {
      order_ = plan_.order_of(each.epoch);
      ordered_epoch_ = each.epoch;
    }
    const auto places = std::span<const std::size_t>(order_).subspan(each.places.first, each.places.size());
    taken.insert(taken.end(), places.begin(), places.end());
  }
  return dataset_.take(taken);
}

emission jsonl_loader::emits(const std::string& path) { return emits(path, options{}); }

emission jsonl_loader::emits(const std::string& path, const options& how) {
  const std::uint64_t first = how.state.empty() ? how.first : loader_state::load(how.state).emitted;
  return {.rows = how.rows, .least = least_of(path, how, first), .endless = how.epochs == 0, .first = first};
}

}  // namespace twinkle
