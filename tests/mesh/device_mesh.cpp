// SPDX-License-Identifier: Apache-2.0
#include "twinkle/mesh/device_mesh.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "twinkle/base/error.hpp"

using twinkle::device_mesh;
using twinkle::interval;
using ranks = std::vector<std::size_t>;

namespace {

ranks data_ranks_of(const device_mesh& mesh) {
  ranks found;
  for (std::size_t rank = 0; rank < mesh.world_size(); ++rank)
    found.push_back(mesh.data_rank(rank));
  return found;
}

ranks slice_sizes(std::size_t rows, std::int64_t dp) {
  const device_mesh mesh = device_mesh::from_sizes({.dp_size = dp});
  ranks sizes;
  for (std::size_t part = 0; part < mesh.data_ranks(); ++part)
    sizes.push_back(mesh.get_slice(rows, part).size());
  return sizes;
}

}  // namespace

TEST_CASE("case K-M1: fsdp lies outside dp, ulysses inside the data ranks, and rows come back in order") {
  const device_mesh mesh = device_mesh::from_sizes({.fsdp_size = 4, .dp_size = 2, .ulysses_size = 2});
  CHECK(mesh.data_ranks() == 4);
  CHECK(data_ranks_of(mesh) == ranks{0, 2, 0, 2, 1, 3, 1, 3});
  CHECK(mesh.get_slice(7, 0) == interval{0, 2});
  CHECK(mesh.get_slice(7, 1) == interval{2, 4});
  CHECK(mesh.get_slice(7, 2) == interval{4, 6});
  CHECK(mesh.get_slice(7, 3) == interval{6, 7});
  CHECK(mesh.representatives() == ranks{0, 4, 1, 5});

  ranks collected;
  for (const std::size_t rank : mesh.representatives()) {
    const interval rows = mesh.get_slice(7, mesh.data_rank(rank));
    for (std::size_t row = rows.first; row < rows.end; ++row)
      collected.push_back(row);
  }
  CHECK(collected == ranks{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("case K-M2: rows are cut evenly, the longer slices first") {
  CHECK(slice_sizes(10, 3) == ranks{4, 3, 3});
  CHECK(slice_sizes(10, 4) == ranks{3, 3, 2, 2});
  CHECK(slice_sizes(5, 4) == ranks{2, 1, 1, 1});
  CHECK(slice_sizes(9, 4) == ranks{3, 2, 2, 2});
}

TEST_CASE("case K-M3: a mesh needs no axis named dp, and its data ranks are those of fsdp") {
  CHECK(device_mesh::from_sizes({.fsdp_size = 4}).data_ranks() == 4);
  CHECK(device_mesh::from_sizes({.tp_size = 4}).data_ranks() == 1);
  const device_mesh only_tp = device_mesh::from_ranks({0, 1, 2, 3}, {4}, {"tp"});
  CHECK(only_tp.data_ranks() == 1);
  CHECK(only_tp.representatives() == ranks{0});
  CHECK(only_tp.size("dp") == 1);
  CHECK(only_tp.coordinate(3, "dp") == 0);
}

TEST_CASE("case K-M4: duplicate and missing ranks are refused by name") {
  CHECK_THROWS_WITH_AS((void)device_mesh::from_ranks({0, 0, 1, 1}, {4}, {"dp"}),
                       "device mesh: the ranks must be 0..3, each once; duplicate: 0,1; missing: 2,3", twinkle::error);
  CHECK_THROWS_WITH_AS((void)device_mesh::from_ranks({0, 1, 2, 4}, {2, 2}, {"dp", "tp"}),
                       "device mesh: the ranks must be 0..3, each once; out of range: 4; missing: 3", twinkle::error);
}

TEST_CASE("case K-M6: an expert view that does not make up a pipeline stage is refused with both numbers") {
  CHECK_NOTHROW((void)device_mesh::from_sizes({.dp_size = 8, .ep_size = 2, .etp_size = 2}));
  CHECK_NOTHROW((void)device_mesh::from_sizes({.dp_size = 8, .ep_size = 2, .etp_size = 2, .ep_fsdp_size = 2}));
  CHECK_NOTHROW((void)device_mesh::from_sizes({.dp_size = 8, .pp_size = 2, .ep_size = 4, .ep_fsdp_size = 2}));
  CHECK_THROWS_WITH_AS((void)device_mesh::from_sizes({.dp_size = 8, .pp_size = 2, .ep_size = 4, .ep_fsdp_size = 4}),
                       "device mesh: expert view ep 4 x etp 1 x ep_fsdp 4 is 16 ranks, but a pipeline stage has 8",
                       twinkle::error);
  CHECK_THROWS_WITH_AS((void)device_mesh::from_sizes({.dp_size = 8, .ep_size = 3}),
                       "device mesh: expert view ep 3 x etp 1 does not divide the 8 ranks of a pipeline stage",
                       twinkle::error);
}

TEST_CASE("case K-M6: fsdp lies outside pp, so that stages alternate along the ranks") {
  const device_mesh mesh = device_mesh::from_sizes({.fsdp_size = 2, .pp_size = 2});
  CHECK(mesh.coordinate(0, "pp") == 0);
  CHECK(mesh.coordinate(1, "pp") == 1);
  CHECK(mesh.coordinate(2, "pp") == 0);
  CHECK(mesh.coordinate(3, "pp") == 1);
}

TEST_CASE("case K-D1: results are collected from the last pipeline stage, one for each data rank") {
  const device_mesh mesh = device_mesh::from_sizes({.dp_size = 2, .pp_size = 2, .tp_size = 2});
  CHECK(mesh.representatives() == ranks{4, 6});
}

TEST_CASE("ranks nest fsdp, pp, dp, cp, tp from the outside, whatever the sizes") {
  const device_mesh mesh =
      device_mesh::from_sizes({.fsdp_size = 2, .dp_size = 2, .pp_size = 2, .cp_size = 2, .tp_size = 2});
  CHECK(mesh.world_size() == 32);
  CHECK(mesh.coordinates(0b10110) == "fsdp=1,pp=0,dp=1,cp=1,tp=0");
}

TEST_CASE("an explicit mesh finds ranks where they were put") {
  const device_mesh mesh = device_mesh::from_ranks({3, 1, 2, 0}, {2, 2}, {"dp", "tp"});
  CHECK(mesh.coordinates(3) == "dp=0,tp=0");
  CHECK(mesh.coordinates(0) == "dp=1,tp=1");
  CHECK(data_ranks_of(mesh) == ranks{1, 0, 1, 0});
  CHECK(mesh.representatives() == ranks{1, 0});
}

TEST_CASE("a group holds the ranks that differ along its axes only") {
  const device_mesh mesh = device_mesh::from_sizes({.dp_size = 2, .pp_size = 2, .tp_size = 2});
  CHECK(mesh.group(5, {"tp"}) == ranks{4, 5});
  CHECK(mesh.group(5, {"dp"}) == ranks{5, 7});
  CHECK(mesh.group(5, {"pp"}) == ranks{1, 5});
  CHECK(mesh.group(5, {"pp", "tp"}) == ranks{0, 1, 4, 5});
  CHECK(mesh.group(5, {}) == ranks{5});
  CHECK(mesh.group(5, {"cp"}) == ranks{5});
  CHECK(mesh.group(5, {"fsdp", "pp", "dp", "cp", "tp"}).size() == 8);
  CHECK_THROWS_WITH_AS((void)mesh.group(5, {"data"}),
                       "device mesh: unknown axis 'data'; the axes are fsdp, pp, dp, cp, tp", twinkle::error);
}

TEST_CASE("sizes that do not multiply to the world size are refused with the values") {
  CHECK_NOTHROW((void)device_mesh::from_sizes({.world_size = 4, .dp_size = 2, .tp_size = 2}));
  CHECK_THROWS_WITH_AS((void)device_mesh::from_sizes({.world_size = 8, .dp_size = 2, .tp_size = 2}),
                       "device mesh: dp 2 x tp 2 is 4 ranks, but world_size is 8", twinkle::error);
}

TEST_CASE("sizes below one are refused by name") {
  CHECK_THROWS_WITH_AS((void)device_mesh::from_sizes({.dp_size = 0}), "device mesh: dp_size is 0; it must be 1 or more",
                       twinkle::error);
  CHECK_THROWS_WITH_AS((void)device_mesh::from_sizes({.dp_size = 0, .tp_size = -2, .ep_size = 0}),
                       "device mesh: dp_size is 0, tp_size is -2, ep_size is 0; each must be 1 or more", twinkle::error);
  CHECK_THROWS_WITH_AS((void)device_mesh::from_sizes({.tp_size = -2}), "device mesh: tp_size is -2; it must be 1 or more",
                       twinkle::error);
  CHECK_THROWS_AS((void)device_mesh::from_sizes({.ulysses_size = 0}), twinkle::error);
  CHECK_THROWS_AS((void)device_mesh::from_sizes({.ep_size = -1}), twinkle::error);
  CHECK_THROWS_AS((void)device_mesh::from_sizes({.vpp_size = 0}), twinkle::error);
  CHECK_THROWS_AS((void)device_mesh::from_sizes({.world_size = -1}), twinkle::error);
}

TEST_CASE("sizes that no machine has are refused before anything is made of them") {
  CHECK_THROWS_WITH_AS((void)device_mesh::from_sizes({.dp_size = std::int64_t{1} << 40}),
                       "device mesh: dp_size is 1099511627776; it must be at most 1048576", twinkle::error);
  CHECK_THROWS_AS((void)device_mesh::from_sizes({.fsdp_size = 1 << 20, .dp_size = 1 << 20, .pp_size = 1 << 20,
                                           .cp_size = 1 << 20, .tp_size = 1 << 20}),
                  twinkle::error);
  CHECK_THROWS_AS((void)device_mesh::from_sizes({.ep_size = std::int64_t{1} << 32, .etp_size = std::int64_t{1} << 32}),
                  twinkle::error);
}

TEST_CASE("an ulysses size that does not divide the data ranks is refused with both") {
  CHECK_THROWS_WITH_AS((void)device_mesh::from_sizes({.fsdp_size = 2, .dp_size = 3, .ulysses_size = 4}),
                       "device mesh: ulysses_size 4 does not divide dp x fsdp = 6", twinkle::error);
}

TEST_CASE("shapes and axes of an explicit mesh that do not fit are refused") {
  CHECK_THROWS_WITH_AS((void)device_mesh::from_ranks({0, 1}, {2}, {"rows"}),
                       "device mesh: unknown axis 'rows'; the axes are fsdp, pp, dp, cp, tp", twinkle::error);
  CHECK_THROWS_WITH_AS((void)device_mesh::from_ranks({0, 1}, {1, 2}, {"dp", "dp"}), "device mesh: axis 'dp' is given twice",
                       twinkle::error);
  CHECK_THROWS_WITH_AS((void)device_mesh::from_ranks({0, 1}, {2}, {"dp", "tp"}),
                       "device mesh: the shape has 1 dimensions, but 2 axes are named: dp, tp", twinkle::error);
  CHECK_THROWS_WITH_AS((void)device_mesh::from_ranks({0, 1, 2}, {2, 2}, {"dp", "tp"}),
                       "device mesh: shape 2,2 holds 4 ranks, but 3 are given", twinkle::error);
  CHECK_THROWS_AS((void)device_mesh::from_ranks({}, {0}, {"dp"}), twinkle::error);
  CHECK_THROWS_AS((void)device_mesh::from_ranks({0}, {}, {}), twinkle::error);
  CHECK_THROWS_AS((void)device_mesh::from_ranks({0, 1}, {std::size_t{1} << 63, 2}, {"dp", "tp"}), twinkle::error);
}

TEST_CASE("a mesh of nothing said is one rank") {
  const device_mesh mesh;
  CHECK(mesh.world_size() == 1);
  CHECK(mesh.data_ranks() == 1);
  CHECK(mesh.title() == "dp 1");
}

TEST_CASE("a mesh draws every rank with its coordinates and data rank") {
  const device_mesh mesh = device_mesh::from_sizes({.dp_size = 2, .tp_size = 2});
  CHECK(mesh.draw() ==
        "device mesh dp 2 x tp 2: 4 ranks, 2 data ranks\n"
        "  dp 0  tp 0: rank 0 (data 0)  tp 1: rank 1 (data 0)\n"
        "  dp 1  tp 0: rank 2 (data 1)  tp 1: rank 3 (data 1)\n");
}

TEST_CASE("a mesh draws itself in one dimension and in five") {
  CHECK(device_mesh::from_ranks({1, 0}, {2}, {"dp"}).draw() ==
        "device mesh dp 2: 2 ranks, 2 data ranks\n"
        "   dp 0: rank 1 (data 0)  dp 1: rank 0 (data 1)\n");
  const std::string five =
      device_mesh::from_sizes({.fsdp_size = 2, .dp_size = 1, .pp_size = 2, .cp_size = 3, .tp_size = 2}).draw();
  CHECK(five.find("\n  fsdp 1 pp 0 dp 0 cp 2  tp 0: rank 16 (data 1)  tp 1: rank 17 (data 1)\n") != std::string::npos);
  CHECK(std::count(five.begin(), five.end(), '\n') == 1 + 12);
}
