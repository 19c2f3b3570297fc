// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "twinkle/place/cluster.hpp"

namespace twinkle::place {

/// A problem of a cluster, and the node that is to be changed; none where it is the whole.
struct node_problem {
  std::optional<std::size_t> node;
  std::string text;
};

[[nodiscard]] std::vector<node_problem> node_problems(const cluster& machines);

}  // namespace twinkle::place
