// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/trained_rows.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "for_all.hpp"

using twinkle::child_of;
using twinkle::identity;
using twinkle::trained_rows;
using runs = std::vector<trained_rows::run>;

namespace {

identity row(std::uint64_t sequence, std::uint32_t source = 0) { return {source, 0, sequence, {}}; }

}  // namespace

TEST_CASE("rows that were trained join to runs, in whatever order they come") {
  trained_rows rows;
  for (const std::uint64_t each : {3, 0, 7, 1, 4, 2, 9, 8})
    rows.add(row(each));
  rows.add(row(5, 2));
  CHECK(rows.whole().at(0) == runs{{0, 5}, {7, 10}});
  CHECK(rows.whole().at(2) == runs{{5, 6}});
  CHECK(rows.first_open(0, 0) == 5);
  CHECK(rows.first_open(0, 7) == 10);
  CHECK(rows.first_open(0, 6) == 6);
  CHECK(rows.first_open(1, 3) == 3);
  CHECK(rows.contains(row(4)));
  CHECK_FALSE(rows.contains(row(5)));
  CHECK_FALSE(rows.contains(row(0, 2)));
}

TEST_CASE("a row is trained when all that descends from it is, and until then its children count one by one") {
  trained_rows rows;
  const identity first = child_of(row(0), 0, 2);
  const identity second = child_of(row(0), 1, 2);
  rows.add(child_of(first, 1, 2));
  rows.add(second);
  CHECK(rows.contains(second));
  CHECK(rows.contains(child_of(second, 0, 5)));
  CHECK_FALSE(rows.contains(child_of(first, 0, 2)));
  CHECK_FALSE(rows.contains(row(0)));
  CHECK(rows.in_part() == std::vector<identity>{second, child_of(first, 1, 2)});
  rows.add(child_of(first, 0, 2));
  CHECK(rows.contains(row(0)));
  CHECK(rows.contains(first));
  CHECK_FALSE(rows.any_in_part());
  CHECK(rows.whole().at(0) == runs{{0, 1}});
}

TEST_CASE("what is in the record is what was added, and runs are apart and ascending") {
  for_all([](const std::vector<std::uint8_t>& added) {
    trained_rows rows;
    for (const std::uint64_t each : added)
      rows.add(row(each));
    for (std::uint64_t each = 0; each < 256; ++each)
      RC_ASSERT(rows.contains(row(each)) == (std::find(added.begin(), added.end(), each) != added.end()));
    if (!added.empty())
      for (std::size_t at = 1; at < rows.whole().at(0).size(); ++at)
        RC_ASSERT(rows.whole().at(0)[at - 1].end < rows.whole().at(0)[at].first);
    std::uint64_t open = 0;
    while (rows.contains(row(open)))
      ++open;
    RC_ASSERT(rows.first_open(0, 0) == open);
  });
}
