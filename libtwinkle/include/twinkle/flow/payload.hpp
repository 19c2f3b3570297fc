// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>

#include "twinkle/data/batch.hpp"
#include "twinkle/data/metrics.hpp"
#include "twinkle/data/weights.hpp"

namespace twinkle {

/// What a source returns when it has no more rows.
struct end_of_source {};

/// What goes into an endpoint, or comes out of it.
using payload = std::variant<std::monostate, batch, metrics, weights, end_of_source>;

}  // namespace twinkle
