// SPDX-License-Identifier: Apache-2.0
#include "twinkle/mesh/transfer_plan.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "twinkle/base/error.hpp"

using twinkle::consumer_layout;
using twinkle::device_mesh;
using twinkle::layout;
using twinkle::plan_transfers;
using twinkle::producer_layout;
using twinkle::transfer_plan;
using transfers = std::vector<twinkle::transfer>;

namespace {

device_mesh dp(std::int64_t size) { return device_mesh::from_sizes({.dp_size = size}); }

}  // namespace

TEST_CASE("case K-D10: a rank reads from the ranks that hold its rows only") {
  const transfer_plan plan = plan_transfers(producer_layout(dp(4), 8), consumer_layout(dp(2), 8));
  CHECK(plan.transfers == transfers{{0, 0, {0, 2}}, {1, 0, {2, 4}}, {2, 1, {4, 6}}, {3, 1, {6, 8}}});
  CHECK(plan.rows_moved() == 8);
  CHECK(plan.in_place.empty());
}

TEST_CASE("case K-D10: slices that are not of one length go where their rows are needed") {
  const transfer_plan plan = plan_transfers(producer_layout(dp(4), 7), consumer_layout(dp(2), 7));
  CHECK(plan.transfers == transfers{{0, 0, {0, 2}}, {1, 0, {2, 4}}, {2, 1, {4, 6}}, {3, 1, {6, 7}}});
  CHECK(plan_transfers(producer_layout(dp(2), 5), consumer_layout(dp(3), 5)).transfers ==
        transfers{{0, 0, {0, 2}}, {0, 1, {2, 3}}, {1, 1, {3, 4}}, {1, 2, {4, 5}}});
}

TEST_CASE("each rank of a data rank asks the representatives for its rows itself") {
  const device_mesh sampler = device_mesh::from_sizes({.dp_size = 2, .tp_size = 2});
  const device_mesh model = device_mesh::from_sizes({.dp_size = 1, .tp_size = 2});
  CHECK(plan_transfers(producer_layout(sampler, 4), consumer_layout(model, 4)).transfers ==
        transfers{{0, 0, {0, 2}}, {2, 0, {2, 4}}, {0, 1, {0, 2}}, {2, 1, {2, 4}}});
}

TEST_CASE("what lies at the target's place is not moved") {
  const layout source{8, {{0, 4}, {4, 8}}, {0, 1}};
  const layout target{8, {{0, 6}, {6, 8}}, {0, 1}};
  const transfer_plan plan = plan_transfers(source, target);
  CHECK(plan.in_place == transfers{{0, 0, {0, 4}}, {1, 1, {6, 8}}});
  CHECK(plan.transfers == transfers{{1, 0, {4, 6}}});
  CHECK(plan.rows_moved() == 2);
}

TEST_CASE("places tell what is near, not ranks") {
  const layout source{4, {{0, 2}, {2, 4}, {0, 4}}, {7, 7, 9}};
  CHECK(plan_transfers(source, {4, {{1, 3}}, {7}}).in_place == transfers{{0, 0, {1, 2}}, {1, 0, {2, 3}}});
  CHECK(plan_transfers(source, {4, {{1, 3}}, {9}}).in_place == transfers{{2, 0, {1, 3}}});
  CHECK(plan_transfers(source, {4, {{1, 3}}, {8}}).in_place.empty());
  CHECK(plan_transfers(source, {4, {{1, 3}}}).in_place.empty());
}

TEST_CASE("replicas take turns") {
  const layout replicas{4, {{0, 4}, {0, 4}}};
  const transfer_plan plan = plan_transfers(replicas, {4, {{0, 4}, {0, 4}, {1, 2}, {2, 4}}});
  CHECK(plan.transfers == transfers{{0, 0, {0, 4}}, {1, 1, {0, 4}}, {0, 2, {1, 2}}, {1, 3, {2, 4}}});
}

TEST_CASE("of sources that overlap, the one that reaches furthest is asked") {
  const layout source{9, {{0, 3}, {0, 5}, {2, 4}, {4, 9}}};
  CHECK(plan_transfers(source, {9, {{0, 9}}}).transfers == transfers{{1, 0, {0, 5}}, {3, 0, {5, 9}}});
}

TEST_CASE("a weight sharded along one axis becomes one sharded along another") {
  // tp 2, each half held twice, to fsdp 4 on the same ranks.
  const layout tp{8, {{0, 4}, {4, 8}, {0, 4}, {4, 8}}, {0, 1, 2, 3}};
  const layout fsdp{8, {{0, 2}, {2, 4}, {4, 6}, {6, 8}}, {0, 1, 2, 3}};
  const transfer_plan plan = plan_transfers(tp, fsdp);
  CHECK(plan.in_place == transfers{{0, 0, {0, 2}}, {3, 3, {6, 8}}});
  CHECK(plan.transfers == transfers{{0, 1, {2, 4}}, {1, 2, {4, 6}}});
}

TEST_CASE("an extent of nothing needs no transfers") {
  CHECK(plan_transfers({0, {{}, {}}}, {0, {{}}}) == transfer_plan{});
  CHECK(plan_transfers({0, {}}, {0, {}}) == transfer_plan{});
}

TEST_CASE("rows that nobody holds are refused, naming who needs them") {
  CHECK_THROWS_WITH_AS(plan_transfers({8, {{0, 3}, {5, 8}}}, {8, {{0, 2}, {2, 8}}}),
                       "transfer plan: target rank 1 needs [3,5), which no source rank holds", twinkle::error);
  CHECK_THROWS_AS(plan_transfers({8, {}}, {8, {{0, 1}}}), twinkle::error);
}

TEST_CASE("layouts of different extents are refused with both") {
  CHECK_THROWS_WITH_AS(plan_transfers({8, {{0, 8}}}, {7, {{0, 7}}}),
                       "transfer plan: the source layout has an extent of 8, the target layout one of 7; they must be "
                       "the same",
                       twinkle::error);
}

TEST_CASE("intervals and places that do not fit their layout are refused by rank") {
  CHECK_THROWS_WITH_AS(plan_transfers({8, {{0, 4}, {4, 9}}}, {8, {}}),
                       "transfer plan: the source layout gives [4,9) to rank 1, which is no interval of [0,8)",
                       twinkle::error);
  CHECK_THROWS_WITH_AS(plan_transfers({8, {{0, 8}}}, {8, {{3, 2}}}),
                       "transfer plan: the target layout gives [3,2) to rank 0, which is no interval of [0,8)",
                       twinkle::error);
  CHECK_THROWS_WITH_AS(plan_transfers({8, {{0, 8}}, {1, 2}}, {8, {}}),
                       "transfer plan: the source layout has 1 ranks, but the places of 2; give one for each rank, or "
                       "none",
                       twinkle::error);
  CHECK_THROWS_WITH_AS(plan_transfers({std::size_t{1} << 41, {}}, {8, {}}),
                       "transfer plan: the source layout has an extent of 2199023255552; it must be at most "
                       "1099511627776",
                       twinkle::error);
}
