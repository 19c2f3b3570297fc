// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "twinkle/base/result.hpp"
#include "twinkle/flow/call.hpp"

namespace twinkle::route {

/// What each worker of a call is given, in worker order, or why the call is refused.
[[nodiscard]] result<std::vector<returned>> cut(const team& workers, const call& wanted);

}  // namespace twinkle::route
