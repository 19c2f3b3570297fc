// SPDX-License-Identifier: Apache-2.0
#include "twinkle/workers/exact_match.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "twinkle/base/error.hpp"
#include "twinkle/flow/endpoint.hpp"
#include "twinkle/workers/columns.hpp"

using twinkle::batch;
using twinkle::exact_match;
namespace columns = twinkle::columns;

static_assert(twinkle::batch_endpoint<decltype(&exact_match::score), exact_match>);

TEST_CASE("a completion is rewarded where it is the answer, byte for byte") {
  const batch rollouts = batch{}
                             .with(columns::completion, {"123", "124", " 123", "", "", "é"})
                             .with(columns::answer, {"123", "123", "123", "", "1", "é"});
  const auto rewards = exact_match::scored(rollouts)[columns::reward];
  CHECK(std::vector<float>(rewards.begin(), rewards.end()) == std::vector<float>{1, 0, 0, 1, 0, 1});
}

TEST_CASE("scoring keeps columns, identities and tombstones") {
  std::vector<twinkle::row_tag> tags(2);
  tags[1].id.sequence = 1;
  const batch rollouts = batch{}
                             .with(columns::completion, {"1", "2"})
                             .with(columns::answer, {"1", "1"})
                             .with_tags(tags)
                             .with_tombstone({tags[0], "late"});
  const batch scored = exact_match::scored(rollouts);
  CHECK(scored.shares_tags(rollouts));
  CHECK(scored.tombstones() == rollouts.tombstones());
  CHECK(scored[columns::completion][1] == "2");
}

TEST_CASE("no rows are scored as no rows") {
  const batch none = batch{}.with(columns::completion, {}).with(columns::answer, {});
  CHECK(exact_match::scored(none)[columns::reward].rows() == 0);
}

TEST_CASE("rollouts without completions or answers are refused by column") {
  CHECK_THROWS_WITH_AS((void)exact_match::scored(batch{}.with(columns::answer, {"1"})),
                       "no column 'completion' in this batch; its columns are answer", twinkle::error);
}
