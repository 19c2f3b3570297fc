// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace twinkle {

/// Which rows of a batch a worker gets.
enum class dispatch : std::uint8_t {
  by_type,   ///< slice_dp for a batch, all for anything else
  slice_dp,  ///< the slice of its data rank
  slice,     ///< an even slice for each worker, whatever the mesh
  balanced,  ///< rows of its data rank, so that costs are even: see balanced()
  all,       ///< the whole batch, every worker
  first,     ///< the whole batch, the first worker only
  function,  ///< what a function says: see rows_by()
};

/// How the results of the workers become one.
enum class collect : std::uint8_t {
  by_type,        ///< concat for batches, mean for metrics, by layout for weights, each for anything else
  concat,         ///< rows in the order of the input, replicas and padding dropped
  each,           ///< one result per worker, in worker order
  first,          ///< the first worker's
  sum,            ///< metrics added up, replicas dropped
  mean,           ///< metrics averaged by their weights or else by real rows, replicas dropped
  last_pp,        ///< those of the last pipeline stage, one per data rank
  last_pp_first,  ///< the first of those
  function,       ///< what a function says: see results_by()
};

/// What to do with a batch of fewer rows than there are parts to make of it.
enum class small : std::uint8_t {
  unset,        ///< refuse, and check() asks for a policy where this may happen
  refuse,       ///< a fault that names endpoint, group, rows and ranks
  pad,          ///< copies of its rows in turn, marked, of no weight, and dropped from what is collected
  allow_empty,  ///< call the body with 0 rows, so that its peers' collectives match
};

/// What becomes of rows that no worker could work on, retries included.
enum class failing : std::uint8_t {
  ends_run,    ///< the call has failed, and with it the run
  drops_rows,  ///< each leaves a tombstone with the cause, and the call goes on
};

/// Where the bodies of a stage run.
enum class bodies : std::uint8_t {
  own_thread,  ///< each on a thread of its own; it may block
  shared,      ///< in their actor's turn: for light bodies, which must not block
};

}  // namespace twinkle
