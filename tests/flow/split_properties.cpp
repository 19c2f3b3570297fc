// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "for_all.hpp"
#include "twinkle/base/interval.hpp"
#include "twinkle/flow/micro_batch_plan.hpp"
#include "twinkle/flow/split.hpp"

using twinkle::balance;
using twinkle::interval;
using twinkle::mini_batches;
using twinkle::pack;
using twinkle::split;
using costs = std::vector<std::uint64_t>;

namespace {

// Few large ones among many small, with ties and zeros.
costs any_costs(std::size_t rows) {
  costs made(rows);
  for (std::uint64_t& cost : made)
    cost = *rc::gen::inRange(0, 4) == 0 ? *rc::gen::inRange<std::uint64_t>(0, 2000)
                                        : *rc::gen::inRange<std::uint64_t>(0, 20);
  return made;
}

std::uint64_t most(const costs& of) { return of.empty() ? 0 : *std::max_element(of.begin(), of.end()); }

// Each row once, ascending, parts by their first rows, costs added up.
void assert_divides(const split& made, const costs& of) {
  std::set<std::size_t> seen;
  std::size_t last_first = 0;
  RC_ASSERT(made.costs.size() == made.parts.size());
  for (std::size_t part = 0; part < made.parts.size(); ++part) {
    const auto& rows = made.parts[part];
    RC_ASSERT(std::is_sorted(rows.begin(), rows.end()));
    std::uint64_t cost = 0;
    for (const std::size_t row : rows) {
      RC_ASSERT(row < of.size());
      RC_ASSERT(seen.insert(row).second);
      cost += of[row];
    }
    RC_ASSERT(cost == made.costs[part]);
    RC_ASSERT(!rows.empty());
    RC_ASSERT(part == 0 || rows.front() > last_first);
    last_first = rows.front();
  }
  RC_ASSERT(seen.size() == of.size());
}

// The least that the heaviest of `parts` can cost, by trying all; with counts that do not matter.
std::uint64_t optimum(const costs& of, costs& loads, std::size_t row) {
  if (row == of.size())
    return most(loads);
  std::uint64_t best = ~std::uint64_t{0};
  for (std::uint64_t& load : loads) {
    load += of[row];
    best = std::min(best, optimum(of, loads, row + 1));
    load -= of[row];
  }
  return best;
}

bool can_be_closer(const costs& of, const std::vector<std::size_t>& heavy, const std::vector<std::size_t>& light,
                   std::uint64_t gap) {
  for (const std::size_t down : heavy)
    for (const std::size_t up : light)
      if (of[down] > of[up] && of[down] - of[up] < gap)
        return true;
  return false;
}

}  // namespace

TEST_CASE("balanced parts hold each row once, and each part has one") {
  for_all([] {
    const auto parts = *rc::gen::inRange<std::size_t>(1, 9);
    const costs of = any_costs(parts + *rc::gen::inRange<std::size_t>(0, 60));
    const split made = balance(of, parts, {.equal_counts = *rc::gen::arbitrary<bool>()});
    RC_ASSERT(made.parts.size() == parts);
    assert_divides(made, of);
  });
}

TEST_CASE("balanced parts of equal counts have as many rows as the even slices") {
  for_all([] {
    const auto parts = *rc::gen::inRange<std::size_t>(1, 9);
    const costs of = any_costs(parts + *rc::gen::inRange<std::size_t>(0, 60));
    const split made = balance(of, parts);
    for (std::size_t part = 0; part < parts; ++part)
      RC_ASSERT(made.parts[part].size() == twinkle::even_part(of.size(), parts, part).size());
  });
}

TEST_CASE("the heaviest part of free counts is at most a third over the best there is") {
  for_all([] {
    const auto parts = *rc::gen::inRange<std::size_t>(1, 4);
    const costs of = any_costs(parts + *rc::gen::inRange<std::size_t>(0, 6));
    costs loads(parts, 0);
    RC_ASSERT(3 * most(balance(of, parts, {.equal_counts = false}).costs) <= 4 * optimum(of, loads, 0));
  });
}

TEST_CASE("no exchange of two rows brings a heaviest and a lightest of equal parts closer together") {
  for_all([] {
    const auto parts = *rc::gen::inRange<std::size_t>(2, 5);
    const costs of = any_costs(parts * *rc::gen::inRange<std::size_t>(1, 12));
    const split made = balance(of, parts);
    const auto [light, heavy] = std::minmax_element(made.costs.begin(), made.costs.end());
    bool final_pair = false;
    for (std::size_t a = 0; a < parts; ++a)
      for (std::size_t b = 0; b < parts; ++b)
        if (made.costs[a] == *heavy && made.costs[b] == *light)
          final_pair = final_pair || !can_be_closer(of, made.parts[a], made.parts[b], *heavy - *light);
    RC_ASSERT(final_pair);
  });
}

TEST_CASE("rows of one group are in one part") {
  for_all([] {
    const auto parts = *rc::gen::inRange<std::size_t>(1, 6);
    const costs of = any_costs(*rc::gen::inRange<std::size_t>(1, 40));
    costs groups(of.size());
    for (std::uint64_t& key : groups)
      key = *rc::gen::inRange<std::uint64_t>(0, 12) * 1'000'003;
    const std::size_t different = std::set(groups.begin(), groups.end()).size();
    RC_PRE(different >= parts);
    const bool equal = *rc::gen::arbitrary<bool>();
    const split made = balance(of, parts, {.equal_counts = equal, .groups = groups});
    assert_divides(made, of);
    std::map<std::uint64_t, std::size_t> part_of;
    std::vector<std::size_t> counts(parts, 0);
    for (std::size_t part = 0; part < parts; ++part)
      for (const std::size_t row : made.parts[part]) {
        const auto [at, added] = part_of.emplace(groups[row], part);
        counts[part] += added ? 1 : 0;
        RC_ASSERT(at->second == part);
      }
    for (std::size_t part = 0; equal && part < parts; ++part)
      RC_ASSERT(counts[part] == twinkle::even_part(different, parts, part).size());
  });
}

TEST_CASE("packed parts keep the cap, flag what is above it, and are as many as asked for or needed") {
  for_all([] {
    const costs of = any_costs(*rc::gen::inRange<std::size_t>(1, 50));
    const auto cap = *rc::gen::inRange<std::uint64_t>(1, 3000);
    const auto at_least = *rc::gen::inRange<std::size_t>(1, of.size() + 1);
    const split made = pack(of, cap, at_least);
    assert_divides(made, of);
    std::vector<std::size_t> oversize;
    for (std::size_t row = 0; row < of.size(); ++row)
      if (of[row] > cap)
        oversize.push_back(row);
    RC_ASSERT(made.oversize == oversize);
    for (std::size_t part = 0; part < made.parts.size(); ++part)
      RC_ASSERT(made.costs[part] <= cap || made.parts[part].size() == 1);
    RC_ASSERT(made.parts.size() == std::max(at_least, pack(of, cap).parts.size()));
  });
}

TEST_CASE("packed parts are more than half full, two by two, if no more are asked for than needed") {
  for_all([] {
    const costs of = any_costs(*rc::gen::inRange<std::size_t>(1, 50));
    const auto cap = *rc::gen::inRange<std::uint64_t>(1, 3000);
    const std::size_t pairs = pack(of, cap).parts.size() / 2;
    const std::uint64_t total = std::accumulate(of.begin(), of.end(), std::uint64_t{0});
    RC_ASSERT(total >= pairs * (cap + 1));
  });
}

TEST_CASE("all data ranks run one number of micro-batches, a multiple where asked, and each row in one that counts") {
  for_all([] {
    std::vector<costs> of(*rc::gen::inRange<std::size_t>(1, 6));
    for (costs& rank : of)
      rank = any_costs(*rc::gen::inRange<std::size_t>(0, 20));
    const twinkle::micro_batch_options how{.cap = *rc::gen::inRange<std::uint64_t>(1, 3000),
                                           .at_least = *rc::gen::inRange<std::size_t>(1, 6),
                                           .multiple_of = *rc::gen::inRange<std::size_t>(1, 5)};
    const auto plan = plan_micro_batches(of, how);
    RC_ASSERT(plan.ranks.size() == of.size());
    const std::size_t number = plan.ranks[0].size();
    RC_ASSERT(number >= how.at_least);
    RC_ASSERT(number % how.multiple_of == 0);
    for (std::size_t rank = 0; rank < of.size(); ++rank) {
      RC_ASSERT(plan.ranks[rank].size() == number);
      std::multiset<std::size_t> rows;
      for (const twinkle::micro_batch& each : plan.ranks[rank]) {
        std::uint64_t cost = 0;
        for (const std::size_t row : each.rows)
          cost += of[rank].at(row);
        RC_ASSERT((cost > how.cap && !each.dummy) == each.oversize);
        RC_ASSERT(!each.oversize || each.rows.size() == 1);
        if (!each.dummy)
          rows.insert(each.rows.begin(), each.rows.end());
      }
      RC_ASSERT(rows.size() == of[rank].size());
      RC_ASSERT(std::set(rows.begin(), rows.end()).size() == of[rank].size());
    }
  });
}

TEST_CASE("where dummies are refused, there are none") {
  for_all([] {
    std::vector<costs> of(*rc::gen::inRange<std::size_t>(1, 6));
    for (costs& rank : of)
      rank = any_costs(*rc::gen::inRange<std::size_t>(20, 30));
    const auto plan = twinkle::plan_micro_batches(
        of, {.cap = *rc::gen::inRange<std::uint64_t>(3000, 9000), .multiple_of = 2, .allow_dummies = false});
    for (const auto& rank : plan.ranks) {
      RC_ASSERT(rank.size() == plan.ranks[0].size());
      for (const twinkle::micro_batch& each : rank)
        RC_ASSERT(!each.dummy);
    }
  });
}

TEST_CASE("mini-batches cover all rows once and in order, and only the last may be short") {
  for_all([] {
    const auto rows = *rc::gen::inRange<std::size_t>(0, 1000);
    const auto size = *rc::gen::inRange<std::size_t>(1, 50);
    std::size_t next = 0;
    for (const interval& each : mini_batches(rows, size)) {
      RC_ASSERT(each.first == next);
      RC_ASSERT(each.size() == size || (each.end == rows && !each.empty() && each.size() < size));
      next = each.end;
    }
    RC_ASSERT(next == rows);
  });
}
