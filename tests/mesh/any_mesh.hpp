// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rapidcheck.h>

#include <numeric>
#include <string>
#include <vector>

#include "twinkle/mesh/device_mesh.hpp"

/// Meshes for property tests.
namespace mesh_test {

inline std::int64_t divisor_of(std::int64_t whole) {
  return *rc::gen::suchThat(rc::gen::inRange<std::int64_t>(1, whole + 1),
                            [=](std::int64_t part) { return whole % part == 0; });
}

/// All five axes, with ulysses and experts that fit; every other one explicit, with its ranks anywhere.
inline twinkle::device_mesh any_mesh() {
  const auto size = [] { return *rc::gen::inRange<std::int64_t>(1, 4); };
  twinkle::mesh_sizes sizes;
  sizes.fsdp_size = size();
  sizes.pp_size = size();
  sizes.dp_size = size();
  sizes.cp_size = size();
  sizes.tp_size = size();
  sizes.ulysses_size = divisor_of(*sizes.fsdp_size * sizes.dp_size);
  const std::int64_t stage = *sizes.fsdp_size * sizes.dp_size * *sizes.cp_size * *sizes.tp_size;
  sizes.ep_size = divisor_of(stage);
  sizes.etp_size = divisor_of(stage / *sizes.ep_size);
  const twinkle::device_mesh plain = twinkle::device_mesh::from_sizes(sizes);
  if (*rc::gen::arbitrary<bool>())
    return plain;
  std::vector<std::size_t> ranks(plain.world_size());
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  for (std::size_t at = ranks.size(); at > 1; --at)
    std::swap(ranks[at - 1], ranks[*rc::gen::inRange<std::size_t>(0, at)]);
  std::vector<std::size_t> shape;
  for (const std::string& axis : plain.axes())
    shape.push_back(plain.size(axis));
  return twinkle::device_mesh::from_ranks(ranks, shape, plain.axes(), sizes);
}

}  // namespace mesh_test
