// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "twinkle/data/batch.hpp"
#include "twinkle/flow/emission.hpp"

namespace twinkle {

class context;

/// A source: the lines of a JSONL file as batches, epoch after epoch. The fields of a line are the columns, as
/// `jsonl_reader` has it. The file is read once, when the worker is built, and held.
class jsonl_loader {
 public:
  enum class last_batch { keep, drop };
  enum class bad_line { stop, skip };

  struct options {
    std::size_t rows = 32;                                   ///< in a batch
    last_batch last = last_batch::keep;                      ///< of an epoch, if it is smaller
    std::size_t epochs = 1;                                  ///< 0: without end
    std::optional<std::uint64_t> seed = std::nullopt;        ///< of the order in each epoch; unset: that of the file
    bad_line bad_lines = bad_line::stop;                     ///< skipped ones are counted in one line of the log
  };

  /// Throws `error` for a file that is missing, cannot be read or has no rows; for a bad line, with file and line; and
  /// where every batch would be dropped.
  explicit jsonl_loader(const std::string& path);
  jsonl_loader(const std::string& path, const options& how);

  /// The next rows; none after the last epoch. No batch holds rows of two epochs.
  [[nodiscard]] std::optional<batch> next(context&) { return next_rows(); }
  [[nodiscard]] std::optional<batch> next_rows();

  /// What the lines of the file come to; where it cannot be read, no less than one row.
  [[nodiscard]] static emission emits(const std::string& path);
  [[nodiscard]] static emission emits(const std::string& path, const options& how);

 private:
  void start_epoch();

  options how_;
  batch dataset_;
  std::vector<std::size_t> order_;  // of this epoch's rows; unused without a seed
  std::size_t epoch_ = 1;
  std::size_t at_ = 0;  // rows of this epoch that are behind us
};

}  // namespace twinkle
