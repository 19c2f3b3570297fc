// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "twinkle/data/identity.hpp"

namespace twinkle::sim {

/// A row, and where it was last seen: "sampler[dp=1]".
struct row_at {
  identity id;
  std::string place;
};

}  // namespace twinkle::sim
