// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/sharding.hpp"

#include <doctest/doctest.h>

#include "pipelines.hpp"
#include "twinkle/flow/check.hpp"

using twinkle::interval;
using twinkle::shard;
using twinkle::share;
using twinkle::sharding;
using twinkle::worker_place;

namespace {

// The first worker of the ranks in a mesh.
worker_place worker_of(const twinkle::mesh_sizes& sizes, std::vector<std::size_t> ranks) {
  worker_place made;
  made.ranks = std::move(ranks);
  made.mesh = std::make_shared<const twinkle::device_mesh>(twinkle::device_mesh::from_sizes(sizes));
  return made;
}

std::optional<std::size_t> matrices_by_columns(std::string_view, std::span<const std::size_t> shape) {
  return shape.size() == 2 ? std::optional<std::size_t>(1) : std::nullopt;
}

std::optional<shard> of_matrix(const twinkle::shard_rule& rule, std::size_t columns) {
  return rule("w", std::vector<std::size_t>{3, columns});
}

}  // namespace

TEST_CASE("ranks that differ along an axis have an even part each, replicas the same") {
  const sharding by_tp{{"tp"}, matrices_by_columns};
  const std::vector<interval> parts{{0, 3}, {3, 5}, {0, 3}, {3, 5}};
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const auto rule = shards_for(by_tp, worker_of({.dp_size = 2, .tp_size = 2}, {rank}));
    CHECK(of_matrix(rule, 5) == shard{1, parts[rank], 5});
    CHECK_FALSE(rule("bias", std::vector<std::size_t>{5}));
  }
}

TEST_CASE("several axes together, in the order of their ranks") {
  const worker_place last = worker_of({.fsdp_size = 2, .dp_size = 3, .tp_size = 2}, {11});
  CHECK(share_of({{"tp", "fsdp"}, nullptr}, last) == share{{3, 4}, 4});
  CHECK(share_of({{"fsdp"}, nullptr}, last) == share{{1, 2}, 2});
  CHECK(share_of({{"pp"}, nullptr}, last) == share{{0, 1}, 1});
}

TEST_CASE("a worker of several ranks has their parts, and one that has all loads whole tensors") {
  const sharding by_tp{{"tp"}, matrices_by_columns};
  CHECK(of_matrix(shards_for(by_tp, worker_of({.tp_size = 4}, {2, 3})), 10) == shard{1, {6, 10}, 10});
  CHECK(shards_for(by_tp, worker_of({.tp_size = 4}, {0, 1, 2, 3})) == nullptr);
  CHECK(shards_for(by_tp, worker_of({.dp_size = 4}, {2})) == nullptr);
}

TEST_CASE("a load that is shared along no axis, or along no dimension, is refused by name") {
  const auto problem = [](const sharding& how) {
    flow_test::shape of;
    of.load.shards = how;
    return twinkle::check(flow_test::pipeline(of).plan()).problems;
  };
  CHECK(problem({{"tp"}, matrices_by_columns}).empty());
  CHECK(problem({{"tpp"}, matrices_by_columns}) ==
        std::vector<std::string>{"sampler.load: .shards: device mesh: unknown axis 'tpp'; the axes are fsdp, pp, dp, cp, tp"});
  CHECK(problem({{}, matrices_by_columns}) ==
        std::vector<std::string>{"sampler.load: .shards names no axis; give the axes of the mesh whose ranks share a tensor"});
  CHECK(problem({{"tp"}, nullptr}) ==
        std::vector<std::string>{"sampler.load: .shards does not say along which dimension; give it .along"});
}
