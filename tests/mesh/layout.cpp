// SPDX-License-Identifier: Apache-2.0
#include "twinkle/mesh/layout.hpp"

#include <doctest/doctest.h>

#include <vector>

using twinkle::consumer_layout;
using twinkle::device_mesh;
using twinkle::interval;
using twinkle::producer_layout;
using intervals = std::vector<interval>;

TEST_CASE("results lie at the representatives, what is needed at every rank") {
  const device_mesh mesh = device_mesh::from_sizes({.dp_size = 2, .pp_size = 2});
  CHECK(producer_layout(mesh, 5).extent == 5);
  CHECK(producer_layout(mesh, 5).held == intervals{{}, {}, {0, 3}, {3, 5}});
  CHECK(consumer_layout(mesh, 5).held == intervals{{0, 3}, {3, 5}, {0, 3}, {3, 5}});
}

TEST_CASE("case K-M1: layouts follow the data ranks, whatever the order of the ranks") {
  const device_mesh mesh = device_mesh::from_sizes({.fsdp_size = 4, .dp_size = 2, .ulysses_size = 2});
  CHECK(producer_layout(mesh, 7).held == intervals{{0, 2}, {4, 6}, {}, {}, {2, 4}, {6, 7}, {}, {}});
}

TEST_CASE("data ranks beyond the rows hold and need nothing") {
  const device_mesh mesh = device_mesh::from_sizes({.dp_size = 3});
  CHECK(producer_layout(mesh, 1).held == intervals{{0, 1}, {1, 1}, {1, 1}});
}
