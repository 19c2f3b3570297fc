// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "twinkle/data/weights.hpp"
#include "twinkle/flow/worker_place.hpp"

namespace twinkle {

/// How the workers of a stage share the tensors that they load: the ranks that differ only along `axes` have an even part
/// each, in the order of their ranks, along the dimension that `along` says; where it says none, each has the whole. `along`
/// is called from several threads, on every node, and says the same each time.
///
///     {.axes = {"tp"}, .along = by_rows}      tp 2: a tensor of 5 rows    rank 0 loads [0,3)    rank 1 loads [3,5)
struct sharding {
  std::vector<std::string> axes = {};
  std::function<std::optional<std::size_t>(std::string_view name, std::span<const std::size_t> shape)> along = nullptr;
};

/// Which of the even parts a worker has: more than one if it has several of the ranks, from its first to its last.
struct share {
  interval parts = {0, 1};
  std::size_t of = 1;

  friend bool operator==(const share&, const share&) = default;
};

/// What is wrong with it, and what to do; nothing if it can be used. An axis that a mesh does not have has one part.
[[nodiscard]] std::optional<std::string> problem_of(const sharding& how);

[[nodiscard]] share share_of(const sharding& how, const worker_place& who);

/// What a worker loads of each tensor; null where it is all of all.
[[nodiscard]] shard_rule shards_for(const sharding& how, const worker_place& who);

}  // namespace twinkle
