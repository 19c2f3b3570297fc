// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <vector>

#include "any_mesh.hpp"
#include "for_all.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/mesh/device_mesh.hpp"

using twinkle::device_mesh;
using ranks = std::vector<std::size_t>;
using groups = std::vector<ranks>;

TEST_CASE("all groups along a set of axes come by their smallest ranks") {
  const device_mesh mesh = device_mesh::from_sizes({.dp_size = 2, .pp_size = 2, .tp_size = 2});
  CHECK(mesh.groups({"tp"}) == groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}});
  CHECK(mesh.groups({"pp"}) == groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  CHECK(mesh.groups({"dp"}) == groups{{0, 2}, {1, 3}, {4, 6}, {5, 7}});
  CHECK(mesh.groups({"tp", "pp"}) == groups{{0, 1, 4, 5}, {2, 3, 6, 7}});
  CHECK(mesh.groups({"cp"}) == groups{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}});
  CHECK(mesh.groups({}).size() == 8);
  CHECK(mesh.groups({"fsdp", "pp", "dp", "cp", "tp"}) == groups{{0, 1, 2, 3, 4, 5, 6, 7}});
  CHECK_THROWS_WITH_AS(mesh.groups({"tp", "ep"}), "device mesh: unknown axis 'ep'; the axes are fsdp, pp, dp, cp, tp",
                       twinkle::error);
}

TEST_CASE("groups of an explicit mesh follow where its ranks were put") {
  const device_mesh mesh = device_mesh::from_ranks({3, 1, 2, 0}, {2, 2}, {"dp", "tp"});
  CHECK(mesh.groups({"tp"}) == groups{{0, 2}, {1, 3}});
  CHECK(mesh.groups({"dp"}) == groups{{0, 1}, {2, 3}});
}

TEST_CASE("pipeline stages are named from the first to the last") {
  const device_mesh mesh = device_mesh::from_sizes({.fsdp_size = 2, .pp_size = 3, .tp_size = 2});
  CHECK(mesh.first_pp_stage() == ranks{0, 1, 6, 7});
  CHECK(mesh.pp_stage(1) == ranks{2, 3, 8, 9});
  CHECK(mesh.last_pp_stage() == ranks{4, 5, 10, 11});
  CHECK_THROWS_WITH_AS(mesh.pp_stage(3),
                       "device mesh: there is no pipeline stage 3 in fsdp 2 x pp 3 x dp 1 x tp 2, which has the stages "
                       "0..2",
                       twinkle::error);
  CHECK(device_mesh::from_sizes({.dp_size = 2}).first_pp_stage() == ranks{0, 1});
  CHECK(device_mesh::from_sizes({.dp_size = 2}).last_pp_stage() == ranks{0, 1});
}

TEST_CASE("the last tp ranks are those at the end of the tp axis, all of them where there is none") {
  CHECK(device_mesh::from_sizes({.dp_size = 2, .tp_size = 3}).last_tp_ranks() == ranks{2, 5});
  CHECK(device_mesh::from_sizes({.dp_size = 3}).last_tp_ranks() == ranks{0, 1, 2});
  CHECK(device_mesh::from_ranks({3, 1, 2, 0}, {2, 2}, {"tp", "dp"}).last_tp_ranks() == ranks{0, 2});
}

TEST_CASE("a rank, a data rank or an axis that a mesh has not is refused with those that it has") {
  const device_mesh mesh = device_mesh::from_sizes({.dp_size = 2, .tp_size = 2});
  CHECK_THROWS_WITH_AS(mesh.data_rank(4), "there is no rank 4 in dp 2 x tp 2, which has the ranks 0..3",
                       twinkle::error);
  CHECK_THROWS_AS(mesh.coordinate(4, "dp"), twinkle::error);
  CHECK_THROWS_AS(mesh.coordinates(4), twinkle::error);
  CHECK_THROWS_AS(mesh.group(4, {"dp"}), twinkle::error);
  CHECK_THROWS_WITH_AS(mesh.get_slice(7, 2),
                       "device mesh: there is no data rank 2 in dp 2 x tp 2, which has the data ranks 0..1",
                       twinkle::error);
  CHECK_THROWS_AS(mesh.size("ddp"), twinkle::error);
  CHECK_THROWS_AS(mesh.coordinate(0, "DP"), twinkle::error);
  CHECK_THROWS_AS(mesh.coordinates_along(""), twinkle::error);
}

TEST_CASE("a mesh of no type is for cuda, and gpu is cuda") {
  CHECK(device_mesh{}.device_type() == "cuda");
  CHECK(device_mesh::from_sizes({.device_type = "GPU"}).device_type() == "cuda");
  CHECK(device_mesh::from_sizes({.device_type = "NPU"}).device_type() == "npu");
}

TEST_CASE("an explicit mesh takes what lies beside its axes, and its axes give the sizes") {
  const device_mesh mesh =
      device_mesh::from_ranks({0, 1, 2, 3, 4, 5, 6, 7}, {2, 4}, {"dp", "fsdp"}, {.ulysses_size = 2, .ep_size = 4});
  CHECK(mesh.data_ranks() == 4);
  CHECK(mesh.sizes().dp_size == 2);
  CHECK(mesh.sizes().fsdp_size == 4);
  CHECK_FALSE(mesh.sizes().tp_size);
  CHECK_THROWS_WITH_AS(device_mesh::from_ranks({0, 1}, {2}, {"tp"}, {.ulysses_size = 2}),
                       "device mesh: ulysses_size 2 does not divide dp x fsdp = 1", twinkle::error);
  CHECK_THROWS_WITH_AS(device_mesh::from_ranks({0, 1}, {2}, {"tp"}, {.tp_size = 4}),
                       "device mesh: tp_size is 4, but the shape is tp 2", twinkle::error);
  CHECK_THROWS_WITH_AS(device_mesh::from_ranks({0, 1}, {2}, {"tp"}, {.dp_size = 2}),
                       "device mesh: dp_size is 2, but the shape is tp 2", twinkle::error);
  CHECK_THROWS_WITH_AS(device_mesh::from_ranks({0, 1}, {2}, {"tp"}, {.world_size = 4}),
                       "device mesh: tp 2 is 2 ranks, but world_size is 4", twinkle::error);
  CHECK_THROWS_AS(device_mesh::from_ranks({0, 1}, {2}, {"tp"}, {.ep_size = 4}), twinkle::error);
}

TEST_CASE("case K-M3: an explicit mesh of any one axis has the data ranks of that axis, if it cuts data") {
  for (const std::string axis : {"fsdp", "pp", "dp", "cp", "tp"}) {
    const device_mesh mesh = device_mesh::from_ranks({2, 0, 1}, {3}, {axis});
    CHECK(mesh.data_ranks() == (axis == "dp" || axis == "fsdp" ? 3 : 1));
    CHECK(mesh.representatives().size() == mesh.data_ranks());
    CHECK(mesh.groups({axis}) == groups{{0, 1, 2}});
  }
}

TEST_CASE("lists of all ranks say what each rank says") {
  for_all([] {
    const device_mesh mesh = mesh_test::any_mesh();
    const ranks data = mesh.data_rank_of_each();
    const ranks dp = mesh.coordinates_along("dp");
    const ranks tp = mesh.coordinates_along("tp");
    RC_ASSERT(data.size() == mesh.world_size());
    for (std::size_t rank = 0; rank < mesh.world_size(); ++rank) {
      RC_ASSERT(data[rank] == mesh.data_rank(rank));
      RC_ASSERT(dp[rank] == mesh.coordinate(rank, "dp"));
      RC_ASSERT(tp[rank] == mesh.coordinate(rank, "tp"));
    }
    const auto slices = mesh.slices(1001);
    RC_ASSERT(slices.size() == mesh.data_ranks());
    for (std::size_t part = 0; part < slices.size(); ++part)
      RC_ASSERT(slices[part] == mesh.get_slice(1001, part));
  });
}

TEST_CASE("whatever the axes, each rank is in one group, which is its own") {
  for_all([] {
    const device_mesh mesh = mesh_test::any_mesh();
    twinkle::axis_list axes;
    std::size_t members = 1;
    for (const std::string& axis : mesh.axes())
      if (*rc::gen::arbitrary<bool>()) {
        axes.push_back(axis);
        members *= mesh.size(axis);
      }
    const groups all = mesh.groups(axes);
    RC_ASSERT(std::is_sorted(all.begin(), all.end()));
    ranks seen;
    for (const ranks& group : all) {
      RC_ASSERT(group.size() == members);
      RC_ASSERT(std::is_sorted(group.begin(), group.end()));
      for (const std::size_t rank : group)
        RC_ASSERT(mesh.group(rank, axes) == group);
      seen.insert(seen.end(), group.begin(), group.end());
    }
    std::sort(seen.begin(), seen.end());
    for (std::size_t rank = 0; rank < mesh.world_size(); ++rank)
      RC_ASSERT(seen.at(rank) == rank);
    RC_ASSERT(seen.size() == mesh.world_size());
  });
}
