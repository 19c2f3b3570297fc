// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "twinkle/base/interval.hpp"

namespace twinkle {

/// Which rows of a dataset are in which batch, epoch after epoch. A position is the number of rows emitted so far, and
/// says all: what follows it depends on nothing else. 10 rows in batches of 4:
///
///     position      0        4        8     10       14       18    20
///     keep          [0..3]   [4..7]   [8,9] [0..3]   [4..7]   [8,9]
///     position      0        4        8        12       16
///     drop          [0..3]   [4..7]   [0..3]   [4..7]
///     position      0        4        8            12       16       20
///     mix_epochs    [0..3]   [4..7]   [8,9,0,1]    [2..5]   [6..9]
///
/// From a position within a batch the rest of that batch comes first, and then the batches that came anyway.
class epoch_plan {
 public:
  enum class last_batch : std::uint8_t { keep, drop };

  struct options {
    std::size_t dataset_rows = 0;
    std::size_t rows = 1;                              ///< in a batch
    last_batch last = last_batch::keep;                ///< of an epoch, if it is smaller; mixed: of all epochs
    std::size_t epochs = 1;                            ///< 0: without end
    bool mix_epochs = false;                           ///< whether a batch may hold rows of several epochs
    std::optional<std::uint64_t> seed = std::nullopt;  ///< of the order in each epoch; unset: that of the dataset
  };

  /// Consecutive places in the order of one epoch; epochs are counted from 1.
  struct run {
    std::uint64_t epoch = 1;
    interval places = {};

    friend bool operator==(const run&, const run&) = default;
  };

  /// No rows at all.
  epoch_plan() = default;
  /// Throws `error` with the numbers where there would be no batch.
  explicit epoch_plan(const options& how);

  /// What all epochs come to; without end, and where it is as good as that, 2^63.
  [[nodiscard]] std::uint64_t rows_in_all() const { return in_all_; }

  /// The batch behind the first `emitted` rows: one run, or several where epochs mix; none at the end.
  [[nodiscard]] std::vector<run> batch_after(std::uint64_t emitted) const;

  /// The rows of the smallest batch behind the first `emitted` rows; 0 where there is none.
  [[nodiscard]] std::size_t least_after(std::uint64_t emitted) const;

  /// The dataset's rows in the order of an epoch, which depends on seed and epoch alone.
  [[nodiscard]] std::vector<std::size_t> order_of(std::uint64_t epoch) const;

 private:
  options how_;
  std::uint64_t in_epoch_ = 0;  // rows that an epoch emits
  std::uint64_t in_all_ = 0;
};

}  // namespace twinkle
