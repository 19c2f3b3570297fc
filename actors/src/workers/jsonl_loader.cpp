// SPDX-License-Identifier: Apache-2.0
#include "twinkle/workers/jsonl_loader.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>
#include <system_error>

#include "twinkle/base/error.hpp"
#include "twinkle/base/random.hpp"
#include "twinkle/data/jsonl_reader.hpp"

namespace twinkle {
namespace {

std::string named(const std::string& path) { return "data file '" + path + "'"; }

std::ifstream open(const std::string& path) {
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  if (!std::filesystem::exists(status))
    throw error(named(path) + " does not exist; relative paths start at " +
                std::filesystem::current_path(failed).string());
  if (!std::filesystem::is_regular_file(status))
    throw error(named(path) + (std::filesystem::is_directory(status) ? " is a directory" : " is not a regular file") +
                "; give the path of a JSONL file");
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw error(named(path) + " cannot be opened: " + std::generic_category().message(errno));
  return file;
}

batch load(const std::string& path, jsonl_loader::bad_line bad_lines) {
  std::ifstream file = open(path);
  jsonl_reader reader;
  std::size_t bad = 0;
  std::string first_bad;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    try {
      reader.add(line, number);
    } catch (const error& wrong) {
      if (bad_lines == jsonl_loader::bad_line::stop)
        throw error(named(path) + ": " + wrong.what());
      if (bad++ == 0)
        first_bad = wrong.what();
    }
  }
  if (file.bad())
    throw error(named(path) + " cannot be read to its end: " + std::generic_category().message(errno));
  const std::string skipped = std::to_string(bad) + (bad == 1 ? " bad line" : " bad lines");
  if (reader.rows() == 0)
    throw error(named(path) + " has no rows" + (bad > 0 ? "; " + skipped + ", the first: " + first_bad : "") +
                "; it needs one JSON object a line");
  if (bad > 0)
    std::clog << named(path) + ": skipped " + skipped + " of " + std::to_string(bad + reader.rows()) +
                     ", the first: " + first_bad + "\n";
  return reader.read();
}

}  // namespace

jsonl_loader::jsonl_loader(const std::string& path) : jsonl_loader(path, options{}) {}

jsonl_loader::jsonl_loader(const std::string& path, const options& how) : how_(how) {
  if (how_.rows == 0)
    throw error(named(path) + ": a batch of 0 rows is asked for; it must be 1 or more");
  dataset_ = load(path, how_.bad_lines);
  if (how_.last == last_batch::drop && dataset_.rows() < how_.rows)
    throw error(named(path) + " has " + std::to_string(dataset_.rows()) + " rows, but a batch has " +
                std::to_string(how_.rows) + " and the last one is dropped if it is smaller, so there would be none; "
                "keep the last batch or ask for fewer rows");
  start_epoch();
}

void jsonl_loader::start_epoch() {
  at_ = 0;
  if (!how_.seed)
    return;
  generator random{derive(*how_.seed, "epoch " + std::to_string(epoch_))};
  order_ = permutation(dataset_.rows(), random);
}

std::optional<batch> jsonl_loader::next_rows() {
  const std::size_t least = how_.last == last_batch::drop ? how_.rows : 1;
  if (dataset_.rows() - at_ < least) {
    if (epoch_ == how_.epochs)
      return std::nullopt;
    ++epoch_;
    start_epoch();
  }
  const interval rows{at_, at_ + std::min(how_.rows, dataset_.rows() - at_)};
  at_ = rows.end;
  if (!how_.seed)
    return dataset_[rows];
  return dataset_.take(std::span<const std::size_t>(order_).subspan(rows.first, rows.size()));
}

emission jsonl_loader::emits(const std::string& path) { return emits(path, options{}); }

emission jsonl_loader::emits(const std::string& path, const options& how) {
  emission said{.rows = how.rows, .least = 1, .endless = how.epochs == 0};
  if (how.last == last_batch::drop) {
    said.least = how.rows;
    return said;
  }
  // With bad lines skipped, only parsing them all would tell how many rows are left.
  std::error_code failed;
  if (how.bad_lines == bad_line::skip || how.rows == 0 || !std::filesystem::is_regular_file(path, failed))
    return said;
  std::ifstream file(path, std::ios::binary);
  std::size_t lines = 0;
  std::string line;
  while (std::getline(file, line))
    lines += line.find_first_not_of(" \t\r\n") != std::string::npos ? 1 : 0;
  if (lines > 0)
    said.least = lines % how.rows == 0 ? how.rows : lines % how.rows;
  return said;
}

}  // namespace twinkle
