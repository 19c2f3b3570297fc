// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace twinkle {

/// Which rows of a batch a worker gets.
enum class dispatch : std::uint8_t {
  by_type,   ///< slice_dp for a batch, all for anything else
  slice_dp,  ///< the slice of its data rank
  all,       ///< the whole batch, every worker
  first,     ///< the whole batch, the first worker only
};

/// How the results of the workers become one.
enum class collect : std::uint8_t {
  by_type,  ///< concat for batches, mean for metrics, put together by layout for weights, each for anything else
  concat,   ///< rows in the order of the input, replicas dropped
  each,     ///< one result per worker, in worker order
  first,    ///< the first worker's
  sum,      ///< metrics of the representatives, added up
  mean,     ///< metrics of the representatives, averaged by their weights or else by rows
};

/// What to do with a batch of fewer rows than data ranks.
enum class small : std::uint8_t {
  unset,        ///< refuse, and check() asks for a policy where this may happen
  refuse,       ///< a fault that names endpoint, group, rows and ranks
  allow_empty,  ///< call the body with 0 rows, so that its peers' collectives match
};

/// Where the bodies of a stage run.
enum class bodies : std::uint8_t {
  own_thread,  ///< each on a thread of its own; it may block
  shared,      ///< in their actor's turn: for light bodies, which must not block
};

}  // namespace twinkle
