// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "twinkle/data/weights.hpp"
#include "twinkle/flow/trained_rows.hpp"

namespace twinkle {

/// All that a run goes on from, at the end of a step: what the training stage keeps, the versions of its weights that
/// were in use, and which rows are behind it.
struct checkpoint {
  struct published {
    std::size_t publication = 0;  ///< by its ordinal in the graph
    weights value;
  };

  std::size_t step = 0;  ///< the last that is in here
  weights state = {};
  std::vector<published> versions = {};  ///< of a publication in ascending order
  trained_rows trained = {};
};

}  // namespace twinkle
