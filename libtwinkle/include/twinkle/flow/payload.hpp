// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <any>
#include <variant>
#include <vector>

#include "twinkle/data/batch.hpp"
#include "twinkle/data/metrics.hpp"
#include "twinkle/data/weights.hpp"

namespace twinkle {

/// What a source returns when it has no more rows.
struct end_of_source {};

/// What a control endpoint returned.
struct value {
  std::any content;
};

/// What goes into an endpoint of several arguments: batches, which are cut alike, and the others, which all workers get.
struct arguments {
  std::vector<batch> batches;
  std::any others;  ///< a tuple of them, in order
};

/// What goes into an endpoint, or comes out of it.
using payload = std::variant<std::monostate, batch, metrics, weights, end_of_source, value, arguments>;

/// The batch in it that is cut, and whose rows are counted; null if there is none.
[[nodiscard]] inline const batch* rows_in(const payload& of) {
  if (const auto* several = std::get_if<arguments>(&of))
    return several->batches.empty() ? nullptr : &several->batches.front();
  return std::get_if<batch>(&of);
}

}  // namespace twinkle
