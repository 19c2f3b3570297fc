// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "twinkle/base/interval.hpp"

namespace twinkle {

/// What went wrong at run time: where, in which endpoint, with which rows, and why.
struct fault {
  std::string place;                           ///< "grpo/sampler[dp=1]@local:gpu3"
  std::string endpoint;                        ///< "sample"; empty for what is no endpoint
  std::optional<interval> rows = std::nullopt; ///< of the call's input
  std::string cause;

  friend bool operator==(const fault&, const fault&) = default;
};

/// "grpo/sampler[dp=1]@local:gpu3 in sample, rows [8,16): out of memory"
[[nodiscard]] std::string to_string(const fault& what);

}  // namespace twinkle
