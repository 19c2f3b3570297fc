// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "twinkle/data/batch.hpp"
#include "twinkle/flow/emission.hpp"
#include "twinkle/flow/epoch_plan.hpp"
#include "twinkle/workers/loader_state.hpp"

namespace twinkle {

class context;

/// A source: the lines of a JSONL file as batches, epoch after epoch. The fields of a line are the columns, as
/// `jsonl_reader` has it. The file is read once, when the worker is built, and held; or only the places of its lines
/// are, and `jsonl_rows` reads them, each data rank its own.
///
/// What comes next depends on file, options and the number of rows emitted before, and on nothing else: a loader that
/// goes on from a count emits what an uninterrupted one would have.
class jsonl_loader {
 public:
  using last_batch = epoch_plan::last_batch;
  enum class bad_line { stop, skip };
  enum class content { rows, places };

  struct options {
    std::size_t rows = 32;                                   ///< in a batch
    last_batch last = last_batch::keep;                      ///< of an epoch, if it is smaller; mixed: of all epochs
    std::size_t epochs = 1;                                  ///< 0: without end
    bool mix_epochs = false;                                 ///< whether a batch may hold rows of several epochs
    std::optional<std::uint64_t> seed = std::nullopt;        ///< of the order in each epoch; unset: that of the file
    bad_line bad_lines = bad_line::stop;                     ///< skipped ones are counted in one line of the log
    content holds = content::rows;                           ///< places: the columns place_… of columns.hpp
    std::uint64_t first = 0;                                 ///< rows that are behind: it starts with the next
    std::string state = {};                                  ///< a file of loader_state::save that says so, instead
  };

  /// Throws `error` for a file that is missing, cannot be read or has no rows; for a bad line, with file and line;
  /// where every batch would be dropped; and for a state that is not of this file and these options.
  explicit jsonl_loader(const std::string& path);
  jsonl_loader(const std::string& path, const options& how);

  /// The next rows; none after the last epoch. No batch holds rows of two epochs, unless they are mixed.
  [[nodiscard]] std::optional<batch> next(context&) { return next_rows(); }
  [[nodiscard]] std::optional<batch> next_rows();

  /// Rows that are behind, those of earlier runs included.
  [[nodiscard]] std::uint64_t emitted() const { return state_.emitted; }
  [[nodiscard]] const loader_state& state() const { return state_; }

  /// Passes over the next rows: those that a run which is resumed has trained.
  void skip(std::uint64_t rows) { resume_from(state_.emitted + rows); }

  /// Goes on behind the first `emitted` rows, back or forth. Within a batch its rest comes first. Throws `error` for
  /// more rows than there are in all epochs.
  void resume_from(std::uint64_t emitted);
  /// The same, if the state is of this data and these options. Throws `error` with both values of what differs.
  void resume_from(const loader_state& state);

  /// What the lines of the file come to; where it cannot be read, is large, or has lines to skip, no less than one row.
  /// Throws `error` for a state that cannot be read.
  [[nodiscard]] static emission emits(const std::string& path);
  [[nodiscard]] static emission emits(const std::string& path, const options& how);

 private:
  std::string name_;
  batch dataset_;
  epoch_plan plan_;
  loader_state state_;
  std::uint64_t ordered_epoch_ = 0;  // the one of order_; 0 for none
  std::vector<std::size_t> order_;   // unused without a seed
};

}  // namespace twinkle
