// SPDX-License-Identifier: Apache-2.0
#include "twinkle/workers/jsonl_rows.hpp"

#include <vector>

#include "data_file.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/data/jsonl_reader.hpp"
#include "twinkle/workers/columns.hpp"

namespace twinkle {
namespace {

std::uint64_t whole(std::int64_t value) { return value < 0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(value); }

}  // namespace

jsonl_rows::jsonl_rows(const std::string& path) : jsonl_rows(path, options{}) {}
jsonl_rows::~jsonl_rows() = default;

jsonl_rows::jsonl_rows(const std::string& path, const options& how)
    : file_(std::make_unique<data_file>(path)), how_(how) {
  std::string first_bad;
  data_line line;
  while (file_->next(line)) {
    try {
      jsonl_reader{}.add(line.text, line.number);
      first_text_ = line.text;
      first_line_ = line.number;
      return;
    } catch (const error& wrong) {
      if (how_.bad_lines == bad_line::stop)
        throw error(file_->name() + ": " + wrong.what());
      if (first_bad.empty())
        first_bad = std::string("; the first bad line: ") + wrong.what();
    }
  }
  throw error(file_->name() + " has no rows" + first_bad + "; it needs one JSON object a line");
}

batch jsonl_rows::rows_at(const batch& places) {
  const auto lines = places[columns::place_line];
  const auto offsets = places[columns::place_offset];
  const auto bytes = places[columns::place_bytes];
  const auto digests = places[columns::place_digest];
  jsonl_reader reader(jsonl_reader::fractions::refuse);
  reader.add(first_text_, first_line_);
  batch kept = places;
  for (std::size_t row = 0; row < places.rows(); ++row) {
    const std::string text = file_->at(whole(offsets[row]), whole(bytes[row]));
    if (digest_of(text) != static_cast<std::uint64_t>(digests[row]))
      throw error(file_->name() + ": line " + std::to_string(lines[row]) +
                  " is not what the loader saw there; let the file stay as it is, and give both the same one");
    try {
      reader.add(text, whole(lines[row]));
    } catch (const error& wrong) {
      const std::string what = file_->name() + ": " + wrong.what();
      if (how_.bad_lines == bad_line::stop)
        throw error(what);
      kept = kept.drop(std::vector<std::size_t>{reader.rows() - 1}, what);
    }
  }
  const batch read = reader.read()[interval{1, reader.rows()}];
  return kept.identified() ? read.tagged_like(kept) : read;
}

}  // namespace twinkle
