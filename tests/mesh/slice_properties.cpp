// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "for_all.hpp"
#include "twinkle/mesh/device_mesh.hpp"

using twinkle::device_mesh;
using twinkle::interval;

namespace {

device_mesh any_mesh() {
  const auto size = [] { return *rc::gen::inRange<std::int64_t>(1, 5); };
  twinkle::mesh_sizes sizes;
  sizes.fsdp_size = size();
  sizes.dp_size = size();
  sizes.pp_size = size();
  sizes.cp_size = size();
  sizes.tp_size = size();
  const std::int64_t data = *sizes.fsdp_size * sizes.dp_size;
  sizes.ulysses_size = *rc::gen::suchThat(rc::gen::inRange<std::int64_t>(1, data + 1),
                                          [=](std::int64_t ulysses) { return data % ulysses == 0; });
  return device_mesh::from_sizes(sizes);
}

}  // namespace

TEST_CASE("slices cover all rows once and in order, and differ by one row at most") {
  for_all([] {
    const device_mesh mesh = any_mesh();
    const auto rows = *rc::gen::inRange<std::size_t>(0, 1000);
    std::size_t next = 0;
    std::size_t last_size = rows;
    for (std::size_t part = 0; part < mesh.data_ranks(); ++part) {
      const interval slice = mesh.get_slice(rows, part);
      RC_ASSERT(slice.first == next);
      RC_ASSERT(slice.size() <= last_size);
      RC_ASSERT(slice.size() == rows / mesh.data_ranks() || slice.size() == rows / mesh.data_ranks() + 1);
      next = slice.end;
      last_size = slice.size();
    }
    RC_ASSERT(next == rows);
  });
}

TEST_CASE("each data rank is represented by its smallest rank in the last pipeline stage") {
  for_all([] {
    const device_mesh mesh = any_mesh();
    const std::vector<std::size_t> chosen = mesh.representatives();
    RC_ASSERT(chosen.size() == mesh.data_ranks());
    for (std::size_t part = 0; part < chosen.size(); ++part) {
      RC_ASSERT(mesh.data_rank(chosen[part]) == part);
      RC_ASSERT(mesh.coordinate(chosen[part], "pp") == mesh.size("pp") - 1);
      for (std::size_t rank = 0; rank < chosen[part]; ++rank)
        RC_ASSERT(mesh.data_rank(rank) != part || mesh.coordinate(rank, "pp") != mesh.size("pp") - 1);
    }
  });
}

TEST_CASE("ranks that differ along pp, cp and tp only have one data rank") {
  for_all([] {
    const device_mesh mesh = any_mesh();
    const auto rank = *rc::gen::inRange<std::size_t>(0, mesh.world_size());
    for (const std::size_t other : mesh.group(rank, {"pp", "cp", "tp"}))
      RC_ASSERT(mesh.data_rank(other) == mesh.data_rank(rank));
  });
}

TEST_CASE("the groups along an axis divide the ranks between them") {
  for_all([] {
    const device_mesh mesh = any_mesh();
    const auto axis = *rc::gen::element<std::string_view>("fsdp", "pp", "dp", "cp", "tp");
    std::set<std::vector<std::size_t>> groups;
    std::size_t members = 0;
    for (std::size_t rank = 0; rank < mesh.world_size(); ++rank) {
      const std::vector<std::size_t> group = mesh.group(rank, {axis});
      RC_ASSERT(group.size() == mesh.size(axis));
      RC_ASSERT(std::find(group.begin(), group.end(), rank) != group.end());
      if (groups.insert(group).second)
        members += group.size();
    }
    RC_ASSERT(members == mesh.world_size());
  });
}

TEST_CASE("coordinates tell all ranks apart") {
  for_all([] {
    const device_mesh mesh = any_mesh();
    std::set<std::string> seen;
    for (std::size_t rank = 0; rank < mesh.world_size(); ++rank)
      RC_ASSERT(seen.insert(mesh.coordinates(rank)).second);
  });
}
