// SPDX-License-Identifier: Apache-2.0
#include "twinkle/mesh/expert_view.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "any_mesh.hpp"
#include "for_all.hpp"
#include "twinkle/base/error.hpp"

using twinkle::device_mesh;
using twinkle::expert_view;
using ranks = std::vector<std::size_t>;
using groups = std::vector<ranks>;
using place = expert_view::place;

namespace {

expert_view view_of(const twinkle::mesh_sizes& sizes) { return expert_view{device_mesh::from_sizes(sizes)}; }

}  // namespace

TEST_CASE("case K-M6: ep_fsdp is what pp, ep and etp leave of the world") {
  CHECK(view_of({.dp_size = 8, .ep_size = 2, .etp_size = 2}).size("ep_fsdp") == 2);
  CHECK(view_of({.dp_size = 8, .pp_size = 2, .ep_size = 4}).size("ep_fsdp") == 2);
  CHECK(view_of({.dp_size = 8, .ep_size = 2}).size("ep_fsdp") == 4);
  CHECK(view_of({.dp_size = 8, .ep_size = 2, .ep_fsdp_size = 4}).size("ep_fsdp") == 4);
}

TEST_CASE("case K-M6: a given ep_fsdp is refused with its product and the ranks of a stage") {
  CHECK_THROWS_WITH_AS(view_of({.dp_size = 8, .ep_size = 2, .ep_fsdp_size = 2}),
                       "device mesh: expert view ep 2 x etp 1 x ep_fsdp 2 is 4 ranks, but a pipeline stage has 8",
                       twinkle::error);
  CHECK_THROWS_WITH_AS(view_of({.dp_size = 4, .ep_fsdp_size = 8}),
                       "device mesh: expert view ep 1 x etp 1 x ep_fsdp 8 is 8 ranks, but a pipeline stage has 4",
                       twinkle::error);
  CHECK_THROWS_AS(view_of({.dp_size = 4, .ep_fsdp_size = 0}), twinkle::error);
}

TEST_CASE("case K-M6: with fsdp 2 and pp 2 the ranks 0 to 3 lie in stages 0,1,0,1, and their experts too") {
  const device_mesh mesh = device_mesh::from_sizes({.fsdp_size = 2, .pp_size = 2, .ep_size = 2});
  const expert_view view{mesh};
  for (std::size_t rank = 0; rank < 4; ++rank) {
    CHECK(view.at(rank).pp == rank % 2);
    CHECK(view.at(rank).pp == mesh.coordinate(rank, "pp"));
  }
  CHECK(view.at(2) == place{.pp = 0, .ep = 1});
  CHECK(view.groups({"ep"}) == groups{{0, 2}, {1, 3}});
}

TEST_CASE("the ranks of a stage nest ep, ep_fsdp, etp from the outside") {
  const expert_view view = view_of({.dp_size = 8, .ep_size = 2, .etp_size = 2});
  CHECK(view.at(0) == place{});
  CHECK(view.at(1) == place{.etp = 1});
  CHECK(view.at(2) == place{.ep_fsdp = 1});
  CHECK(view.at(4) == place{.ep = 1});
  CHECK(view.at(7) == place{.ep = 1, .ep_fsdp = 1, .etp = 1});
  CHECK(view.coordinates(5) == "pp=0,ep=1,ep_fsdp=0,etp=1");
  CHECK(view.group(5, {"ep"}) == ranks{1, 5});
  CHECK(view.groups({"etp"}) == groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}});
  CHECK(view.groups({"ep_fsdp"}) == groups{{0, 2}, {1, 3}, {4, 6}, {5, 7}});
  CHECK(view.groups({"ep", "etp"}) == groups{{0, 1, 4, 5}, {2, 3, 6, 7}});
}

TEST_CASE("a mesh that says nothing of experts has them sharded over each stage") {
  const expert_view view = view_of({.dp_size = 2, .pp_size = 2, .tp_size = 2});
  CHECK(view.title() == "pp 2 x ep 1 x ep_fsdp 4 x etp 1");
  CHECK(view.groups({"ep_fsdp"}) == groups{{0, 1, 2, 3}, {4, 5, 6, 7}});
}

TEST_CASE("an explicit mesh has an expert view of its stages, whose ranks ascend") {
  const device_mesh mesh = device_mesh::from_ranks({3, 1, 2, 0}, {2, 2}, {"dp", "pp"}, {.ep_size = 2});
  CHECK(mesh.first_pp_stage() == ranks{2, 3});
  const expert_view view{mesh};
  CHECK(view.at(2) == place{.pp = 0, .ep = 0});
  CHECK(view.at(3) == place{.pp = 0, .ep = 1});
  CHECK(view.at(0) == place{.pp = 1, .ep = 0});
  CHECK(view.at(1) == place{.pp = 1, .ep = 1});
}

TEST_CASE("axes of the mesh are not those of its experts, and a rank has to be there") {
  const expert_view view = view_of({.dp_size = 4, .ep_size = 2});
  CHECK_THROWS_WITH_AS(view.groups({"dp"}), "expert view: unknown axis 'dp'; the axes are pp, ep, ep_fsdp, etp",
                       twinkle::error);
  CHECK_THROWS_AS(view.size("tp"), twinkle::error);
  CHECK_THROWS_AS(view.group(0, {"tp"}), twinkle::error);
  CHECK_THROWS_AS(view.group(4, {"ep"}), twinkle::error);
  CHECK_THROWS_WITH_AS(view.at(4), "there is no rank 4 in pp 1 x ep 2 x ep_fsdp 2 x etp 1, which has the ranks 0..3",
                       twinkle::error);
}

TEST_CASE("an expert view draws every rank with its coordinates") {
  CHECK(view_of({.fsdp_size = 2, .pp_size = 2, .tp_size = 2, .ep_size = 2, .etp_size = 2}).draw() ==
        "expert view pp 2 x ep 2 x ep_fsdp 1 x etp 2: 8 ranks\n"
        "  pp 0 ep 0 ep_fsdp 0  etp 0: rank 0  etp 1: rank 1\n"
        "  pp 0 ep 1 ep_fsdp 0  etp 0: rank 4  etp 1: rank 5\n"
        "  pp 1 ep 0 ep_fsdp 0  etp 0: rank 2  etp 1: rank 3\n"
        "  pp 1 ep 1 ep_fsdp 0  etp 0: rank 6  etp 1: rank 7\n");
}

TEST_CASE("each rank has one expert place, in its own pipeline stage, and places ascend with ranks there") {
  for_all([] {
    const device_mesh mesh = mesh_test::any_mesh();
    const expert_view view{mesh};
    RC_ASSERT(view.size("pp") * view.size("ep") * view.size("ep_fsdp") * view.size("etp") == mesh.world_size());
    for (std::size_t stage = 0; stage < mesh.size("pp"); ++stage) {
      std::size_t next = 0;
      for (const std::size_t rank : mesh.pp_stage(stage)) {
        const place at = view.at(rank);
        RC_ASSERT(at.pp == stage);
        RC_ASSERT((at.ep * view.size("ep_fsdp") + at.ep_fsdp) * view.size("etp") + at.etp == next);
        ++next;
      }
    }
    const groups experts = view.groups({"ep"});
    std::set<std::size_t> seen;
    for (const ranks& group : experts) {
      RC_ASSERT(group.size() == view.size("ep"));
      seen.insert(group.begin(), group.end());
    }
    RC_ASSERT(seen.size() == mesh.world_size());
  });
}
