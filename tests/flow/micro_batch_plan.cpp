// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/micro_batch_plan.hpp"

#include <doctest/doctest.h>

#include "twinkle/base/error.hpp"

using twinkle::micro_batch;
using twinkle::micro_batch_plan;
using twinkle::plan_micro_batches;
using by_rank = std::vector<std::vector<std::uint64_t>>;
using micro_batches = std::vector<micro_batch>;

TEST_CASE("case K-D8: data ranks that need 3 and 2 micro-batches run 3 each, one of them a dummy") {
  const micro_batch_plan plan = plan_micro_batches(by_rank{{600, 600, 600}, {600, 300, 700}}, {.cap = 1000});
  CHECK(plan.ranks[0] == micro_batches{{{0}}, {{1}}, {{2}}});
  CHECK(plan.ranks[1] == micro_batches{{{0, 1}}, {{2}}, {.rows = {1}, .dummy = true}});
}

TEST_CASE("case K-D8: the number is raised to a multiple of the virtual stages") {
  const by_rank three_rows{{1, 1}, {1}};
  const micro_batch_plan plan = plan_micro_batches(three_rows, {.cap = 1, .multiple_of = 2});
  CHECK(plan.ranks[0] == micro_batches{{{0}}, {{1}}});
  CHECK(plan.ranks[1] == micro_batches{{{0}}, {.rows = {0}, .dummy = true}});
  CHECK(plan_micro_batches(by_rank{{1, 1, 1}, {1, 1}}, {.cap = 1, .multiple_of = 4}).ranks[0].size() == 4);
}

TEST_CASE("case K-D8: where dummies are refused, both counts are named") {
  CHECK_THROWS_WITH_AS(plan_micro_batches(by_rank{{1, 1}, {1}}, {.cap = 1, .multiple_of = 2, .allow_dummies = false}),
                       "micro-batches: the rows make 3, but 4 have to run, 2 on each data rank; data rank 1 makes 1; "
                       "send it more rows, or allow dummies",
                       twinkle::error);
}

TEST_CASE("where dummies are refused, a rank that needs fewer micro-batches cuts its rows finer") {
  const micro_batch_plan plan =
      plan_micro_batches(by_rank{{600, 600, 600}, {400, 400, 400, 400}}, {.cap = 1000, .allow_dummies = false});
  CHECK(plan.ranks[1].size() == 3);
  CHECK(plan.ranks[1] == micro_batches{{{0, 3}}, {{1}}, {{2}}});
}

TEST_CASE("case K-D7: a row above the cap is a micro-batch of its own and is flagged") {
  const micro_batch_plan plan = plan_micro_batches(by_rank{{100, 1500}}, {.cap = 1000});
  CHECK(plan.ranks[0] == micro_batches{{{0}}, {.rows = {1}, .oversize = true}});
}

TEST_CASE("without a cap all rows are one micro-batch, unless more are asked for") {
  CHECK(plan_micro_batches(by_rank{{5, 5}, {9, 1}}).ranks == std::vector<micro_batches>{{{{0, 1}}}, {{{0, 1}}}});
  CHECK(plan_micro_batches(by_rank{{5, 5}}, {.at_least = 2}).ranks[0] == micro_batches{{{0}}, {{1}}});
  CHECK(plan_micro_batches(by_rank{{5}}, {.at_least = 2}).ranks[0] ==
        micro_batches{{{0}}, {.rows = {0}, .dummy = true}});
}

TEST_CASE("a data rank without rows takes part with dummies of no row") {
  const micro_batch_plan plan = plan_micro_batches(by_rank{{5, 5}, {}}, {.cap = 5});
  CHECK(plan.ranks[1] == micro_batches{{.dummy = true}, {.dummy = true}});
  CHECK(plan_micro_batches(by_rank{}).ranks.empty());
}

TEST_CASE("numbers of micro-batches out of reason are refused by name") {
  CHECK_THROWS_WITH_AS(plan_micro_batches(by_rank{{1}}, {.at_least = 0}),
                       "micro-batches: at_least is 0; it must be from 1 to 4096", twinkle::error);
  CHECK_THROWS_WITH_AS(plan_micro_batches(by_rank{{1}}, {.multiple_of = 5000}),
                       "micro-batches: multiple_of is 5000; it must be from 1 to 4096", twinkle::error);
  CHECK_THROWS_AS(plan_micro_batches(by_rank{{1}}, {.cap = 0}), twinkle::error);
}
