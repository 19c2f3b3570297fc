// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/padding_plan.hpp"

#include <algorithm>
#include <string>

#include "twinkle/base/error.hpp"

namespace twinkle {

padding_plan plan_padding(std::size_t rows, std::size_t to) {
  if (rows == 0 && to > 0)
    throw error("padding: there is no row to copy, and " + std::to_string(to) +
                " are needed; allow empty parts instead");
  padding_plan plan{{}, rows};
  for (std::size_t at = 0; at < std::max(rows, to); ++at)
    plan.rows.push_back(at % rows);
  return plan;
}

}  // namespace twinkle
