// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace twinkle {

/// A line that holds a row, or should: without its end, carriage return and byte order mark.
struct data_line {
  std::string text = {};
  std::size_t number = 0;    ///< counted from 1, blank lines too
  std::uint64_t offset = 0;  ///< of `text` in the file
};

/// A JSONL file as lines: all of them one after the other, or one at a known place.
class data_file {
 public:
  /// Throws `error` for a path that is missing, no regular file, or cannot be opened.
  explicit data_file(const std::string& path);

  /// "data file 'train.jsonl'"
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Reads the next line that is not blank; false at the end.
  [[nodiscard]] bool next(data_line& into);

  /// The bytes at a place. Throws `error` where the file has none such, or no longer.
  [[nodiscard]] std::string at(std::uint64_t offset, std::uint64_t bytes);

 private:
  std::string name_;
  std::ifstream file_;
  std::uint64_t file_bytes_ = 0;
  std::size_t number_ = 0;     // of lines behind us
  std::uint64_t offset_ = 0;   // of the next line
};

/// Opens a regular file to read, or throws `error` that names it as `name` and ends with `advice`.
[[nodiscard]] std::ifstream open_regular(const std::string& path, const std::string& name, const std::string& advice);

/// Tells other bytes apart, quickly; the same on every machine.
[[nodiscard]] std::uint64_t digest_of(std::string_view bytes);

}  // namespace twinkle
