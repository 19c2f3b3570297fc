// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace twinkle {

/// Bad configuration or bad use: thrown before anything runs, or inside a body, where it becomes a fault.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace twinkle
