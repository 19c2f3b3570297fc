// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "twinkle/data/batch.hpp"
#include "twinkle/workers/jsonl_loader.hpp"

namespace twinkle {

class context;
class data_file;

/// The reading half of a loader that holds places only. A source has one worker, so that is what a loader with
/// `.holds = places` is: it reads the file once, cuts batches, and emits where their lines are. Each worker of this
/// stage then reads the lines of its own slice, and parses no other:
///
///     jsonl_loader                    jsonl_rows, 2 data ranks
///     places 0 1 2 3 4  -- slice_dp ->  0 1 2  data rank 0 (and its tp and pp ranks)
///                                       3 4    data rank 1
///
/// So that ranks agree without reading each other's lines, the types of the columns are those of the first line that
/// can be read: a fraction where that line has a whole number is a bad line.
class jsonl_rows {
 public:
  using bad_line = jsonl_loader::bad_line;

  struct options {
    bad_line bad_lines = bad_line::stop;  ///< skipped ones leave tombstones that name the line
  };

  /// Throws `error` for a file that is missing, cannot be read, or has no line that can.
  explicit jsonl_rows(const std::string& path);
  jsonl_rows(const std::string& path, const options& how);
  ~jsonl_rows();
  jsonl_rows(const jsonl_rows&) = delete;
  jsonl_rows& operator=(const jsonl_rows&) = delete;

  /// The rows at these places, with their identities and tombstones; no rows for none, with the same columns. Throws
  /// `error` for a bad line, and for one that is not the line that the loader saw.
  [[nodiscard]] batch read(context&, const batch& places) { return rows_at(places); }
  [[nodiscard]] batch rows_at(const batch& places);

 private:
  std::unique_ptr<data_file> file_;
  options how_;
  std::string first_text_;  // the line that types come from
  std::size_t first_line_ = 0;
};

}  // namespace twinkle
