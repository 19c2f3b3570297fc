// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

#include "data/rows.hpp"
#include "for_all.hpp"
#include "twinkle/base/random.hpp"

using rows::any_batch;
using rows::content;
using rows::content_of;
using twinkle::batch;
using twinkle::identity;
using twinkle::interval;
using twinkle::row_tag;
using twinkle::tombstone;

namespace {

// Any way to cut `length` into runs, empty ones among them.
std::vector<interval> any_cuts(std::size_t length) {
  auto ends = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, length + 1));
  std::sort(ends.begin(), ends.end());
  ends.push_back(length);
  std::vector<interval> cuts;
  for (const std::size_t end : ends)
    cuts.push_back({cuts.empty() ? 0 : cuts.back().end, end});
  return cuts;
}

std::vector<std::size_t> any_rows(const batch& of) {
  std::vector<std::size_t> chosen;
  for (std::size_t row = 0; row < of.rows(); ++row)
    if (*rc::gen::arbitrary<bool>())
      chosen.push_back(row);
  return chosen;
}

std::vector<std::size_t> without(const std::vector<std::size_t>& rows, const std::vector<std::size_t>& gone) {
  std::vector<std::size_t> left;
  std::set_difference(rows.begin(), rows.end(), gone.begin(), gone.end(), std::back_inserter(left));
  return left;
}

}  // namespace

TEST_CASE("a concatenation holds the rows and tombstones of its parts in order") {
  for_all([] {
    const batch a = any_batch("a");
    const batch b = any_batch("b");
    RC_ASSERT(content_of(batch::concat({{a, b}})) == content_of(a) + content_of(b));
  });
}

TEST_CASE("it does not matter in which order batches are put together") {
  for_all([] {
    const batch a = any_batch("a");
    const batch b = any_batch("b");
    const batch c = any_batch("c");
    const content at_once = content_of(batch::concat({{a, b, c}}));
    RC_ASSERT(content_of(batch::concat({{batch::concat({{a, b}}), c}})) == at_once);
    RC_ASSERT(content_of(batch::concat({{a, batch::concat({{b, c}})}})) == at_once);
  });
}

TEST_CASE("slices put together give back the batch, and each tombstone goes with one of them") {
  for_all([] {
    const batch whole = any_batch("whole");
    std::vector<batch> slices;
    content sum;
    for (const interval cut : any_cuts(whole.rows())) {
      if (whole.empty() && !slices.empty())
        break;  // tombstones alone are whole in any slice
      slices.push_back(whole[cut]);
      sum = sum + content_of(slices.back());
    }
    RC_ASSERT(sum == content_of(whole));
    RC_ASSERT(content_of(batch::concat(slices)) == content_of(whole));
  });
}

TEST_CASE("a slice of a concatenation gives back the rows of the part") {
  for_all([] {
    const batch a = any_batch("a");
    const batch b = any_batch("b");
    const batch both = batch::concat({{a, b}});
    const batch again_a = both[{0, a.rows()}];
    const batch again_b = both[{a.rows(), both.rows()}];
    RC_ASSERT(content_of(again_a).rows == content_of(a).rows);
    RC_ASSERT(content_of(again_b).rows == content_of(b).rows);
    RC_ASSERT(content_of(again_a).tags == content_of(a).tags);
    RC_ASSERT(content_of(again_b).tags == content_of(b).tags);
  });
}

TEST_CASE("a slice of a slice is a slice") {
  for_all([] {
    const batch whole = any_batch("whole");
    const auto first = *rc::gen::inRange<std::size_t>(0, whole.rows() + 1);
    const auto end = *rc::gen::inRange<std::size_t>(first, whole.rows() + 1);
    const auto skip = *rc::gen::inRange<std::size_t>(0, end - first + 1);
    RC_ASSERT(content_of(whole[{first, end}][{skip, end - first}]) == content_of(whole[{first + skip, end}]));
  });
}

TEST_CASE("rows taken in another order and back are as before") {
  for_all([] {
    const batch whole = any_batch("whole");
    twinkle::generator random{*rc::gen::arbitrary<std::uint64_t>()};
    const std::vector<std::size_t> order = twinkle::permutation(whole.rows(), random);
    std::vector<std::size_t> back(order.size());
    for (std::size_t at = 0; at < order.size(); ++at)
      back[order[at]] = at;
    const batch again = whole.take(order).take(back);
    RC_ASSERT(content_of(again).rows == content_of(whole).rows);
    RC_ASSERT(content_of(again).tags == content_of(whole).tags);
    RC_ASSERT(again.tombstone_count() == whole.tombstone_count());
  });
}

TEST_CASE("every row that is dropped is a tombstone in its place, and dropping twice is dropping both") {
  for_all([] {
    const batch whole = any_batch("whole");
    const std::vector<std::size_t> first = any_rows(whole);
    std::vector<std::size_t> all(whole.rows());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const std::vector<std::size_t> kept = without(all, first);
    const batch once = whole.drop(first, "bad");
    RC_ASSERT(content_of(once).rows == content_of(whole.take(kept)).rows);
    RC_ASSERT(once.tombstone_count() == whole.tombstone_count() + first.size());

    const std::vector<std::size_t> second = any_rows(once);
    std::vector<std::size_t> both = first;
    for (const std::size_t row : second)
      both.push_back(kept[row]);
    std::sort(both.begin(), both.end());
    RC_ASSERT(content_of(once.drop(second, "bad")) == content_of(whole.drop(both, "bad")));
  });
}

TEST_CASE("children stand in groups that know their parents and how many they are") {
  for_all([] {
    const batch whole = any_batch("whole");
    std::vector<std::size_t> parents;
    for (std::size_t row = 0; row < whole.rows(); ++row)
      parents.insert(parents.end(), *rc::gen::inRange<std::size_t>(0, 4), row);
    const batch grown = whole.expand(parents);
    RC_ASSERT(content_of(grown).rows == content_of(whole.take(parents)).rows);

    std::size_t at = 0;
    std::size_t childless = 0;
    for (const row_tag& parent : whole.tags()) {
      std::uint32_t index = 0;
      for (; at < grown.rows() && parent_of(grown.tags()[at].id) == parent.id; ++at) {
        const identity& id = grown.tags()[at].id;
        RC_ASSERT(id.path[0].index == index++);
        RC_ASSERT(descends(id, parent.id));
      }
      for (std::size_t row = at - index; row < at; ++row)
        RC_ASSERT(grown.tags()[row].id.path[0].count == index);
      childless += index == 0 ? 1 : 0;
    }
    RC_ASSERT(at == grown.rows());
    RC_ASSERT(grown.tombstone_count() == whole.tombstone_count() + childless);
  });
}

TEST_CASE("no row and no tombstone is lost on the way through slices, drops and concatenations") {
  for_all([] {
    const batch whole = any_batch("whole");
    std::vector<batch> parts;
    for (const interval cut : any_cuts(whole.rows())) {
      if (whole.empty() && !parts.empty())
        break;
      const batch part = whole[cut];
      parts.push_back(part.drop(any_rows(part), "late"));
    }
    const batch end = batch::concat(parts);
    std::vector<std::uint64_t> seen;
    for (const row_tag& tag : end.tags())
      seen.push_back(tag.id.sequence);
    for (const tombstone& lost : end.tombstones())
      seen.push_back(lost.tag.id.sequence);
    std::vector<std::uint64_t> wanted;
    for (const row_tag& tag : whole.tags())
      wanted.push_back(tag.id.sequence);
    for (const tombstone& lost : whole.tombstones())
      wanted.push_back(lost.tag.id.sequence);
    std::sort(seen.begin(), seen.end());
    std::sort(wanted.begin(), wanted.end());
    RC_ASSERT(seen == wanted);
  });
}
