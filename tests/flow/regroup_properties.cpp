// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <map>

#include "for_all.hpp"
#include "numbered.hpp"
#include "twinkle/flow/edge_ends.hpp"

using namespace flow_test;
using twinkle::batch;
using twinkle::count_of;
using twinkle::group_by_parent;
using twinkle::identity;
using twinkle::interval;
using twinkle::rebatch;
using sizes = std::vector<std::size_t>;

namespace {

// Rows expanded by different numbers, some dropped, cut into batches anywhere.
struct drawn {
  std::vector<batch> parts;
  std::size_t count = 0;
  std::size_t largest_group = 1;
};

drawn any_flow(bool grouped) {
  drawn made;
  const auto counts = *rc::gen::container<sizes>(*rc::gen::inRange<std::size_t>(1, 8),
                                                 rc::gen::inRange<std::size_t>(1, 5));
  sizes parents;
  for (std::size_t row = 0; row < counts.size(); ++row) {
    parents.insert(parents.end(), counts[row], row);
    made.largest_group = std::max(made.largest_group, counts[row]);
  }
  const batch all = numbered(counts.size()).expand(parents);
  made.count = all.rows();
  for (std::size_t first = 0; first < all.rows();) {
    std::size_t end = std::min(all.rows(), first + *rc::gen::inRange<std::size_t>(1, 9));
    while (grouped && end < all.rows() && parents[end] == parents[end - 1])
      ++end;
    sizes dropped;
    for (std::size_t row = 0; row < end - first; ++row)
      if (*rc::gen::weightedElement<bool>({{4, false}, {1, true}}))
        dropped.push_back(row);
    made.parts.push_back(all[interval{first, end}].drop(dropped, "bad"));
    first = end;
  }
  return made;
}

// Rows and tombstones of a batch by their parents.
std::map<identity, std::size_t> members_of(const batch& of) {
  std::map<identity, std::size_t> found;
  if (!of.empty())
    for (const auto& tag : of.tags())
      ++found[parent_of(tag.id)];
  for (const auto& lost : of.tombstones())
    ++found[parent_of(lost.tag.id)];
  return found;
}

std::size_t expected(const identity& parent, const drawn& of) {
  for (const batch& part : of.parts) {
    if (!part.empty())
      for (const auto& tag : part.tags())
        if (parent_of(tag.id) == parent)
          return tag.id.path[0].count;
    for (const auto& lost : part.tombstones())
      if (parent_of(lost.tag.id) == parent)
        return lost.tag.id.path[0].count;
  }
  return 0;
}

std::vector<batch> all_through(twinkle::regrouper& by, const std::vector<batch>& parts) {
  std::vector<batch> out;
  std::size_t in = 0;
  for (const batch& part : parts) {
    in += count_of(part);
    for (batch& made : by.add(part)) {
      in -= count_of(made);
      out.push_back(std::move(made));
    }
    RC_ASSERT(by.held() == in);
  }
  for (batch& made : by.end())
    out.push_back(std::move(made));
  RC_ASSERT(by.held() == 0);
  return out;
}

}  // namespace

TEST_CASE("groups leave whole, in order of their parents, with every row and tombstone") {
  for_all([] {
    const drawn flow = any_flow(false);
    group_by_parent groups;
    const auto out = all_through(groups, flow.parts);
    std::size_t count = 0;
    for (const batch& each : out) {
      count += count_of(each);
      for (const auto& [parent, members] : members_of(each))
        RC_ASSERT(members == expected(parent, flow));
    }
    RC_ASSERT(count == flow.count);
    const numbers order = numbers_of(join(out));
    RC_ASSERT(std::is_sorted(order.begin(), order.end()));
  });
}

TEST_CASE("rebatch of single rows makes batches of exactly its number, but for the last") {
  for_all([] {
    const drawn flow = any_flow(false);
    const auto size = *rc::gen::inRange<std::size_t>(1, 9);
    rebatch by{size, false};
    const auto out = all_through(by, flow.parts);
    std::size_t count = 0;
    for (std::size_t at = 0; at < out.size(); ++at) {
      RC_ASSERT(count_of(out[at]) == size || (at + 1 == out.size() && count_of(out[at]) < size));
      count += count_of(out[at]);
    }
    RC_ASSERT(count == flow.count);
    RC_ASSERT(names_of(join(out)) == names_of(join(flow.parts)));
  });
}

TEST_CASE("rebatch never cuts a group, never passes its number, and ends only before a group that would") {
  for_all([] {
    const drawn flow = any_flow(true);
    const auto size = *rc::gen::inRange<std::size_t>(flow.largest_group, 12);
    rebatch by{size, true};
    const auto out = all_through(by, flow.parts);
    std::size_t count = 0;
    std::size_t last = 0;
    for (const batch& each : out) {
      RC_ASSERT(count_of(each) <= size);
      count += count_of(each);
      const auto members = members_of(each);
      for (const auto& [parent, there] : members)
        RC_ASSERT(there == expected(parent, flow));
      std::size_t largest = 0;
      for (const auto& [parent, there] : members)
        largest = std::max(largest, there);
      RC_ASSERT(last == 0 || last + largest > size);
      last = count_of(each);
    }
    RC_ASSERT(count == flow.count);
    RC_ASSERT(names_of(join(out)) == names_of(join(flow.parts)));
  });
}

TEST_CASE("an inlet with operators is never stuck, and never holds more than its need and one producer batch") {
  for_all([] {
    const drawn flow = any_flow(true);
    const auto size = *rc::gen::inRange<std::size_t>(flow.largest_group, 12);
    std::size_t producer_batch = 0;
    for (const batch& part : flow.parts)
      producer_batch = std::max(producer_batch, count_of(part));
    std::vector<std::unique_ptr<twinkle::regrouper>> operators;
    operators.push_back(std::make_unique<group_by_parent>());
    operators.push_back(std::make_unique<rebatch>(size, true));
    const std::size_t buffer = size + flow.largest_group + producer_batch;
    twinkle::inlet edge{std::move(operators), buffer};
    std::size_t waiting = 0;
    std::size_t taken = 0;
    for (const batch& part : flow.parts) {
      edge.receive(part);
      waiting += count_of(part);
      waiting -= edge.advance();
      RC_ASSERT(edge.held() - waiting <= buffer);
      if (edge.ready() && *rc::gen::arbitrary<bool>())
        taken += count_of(edge.take(*rc::gen::inRange<std::size_t>(1, 12)).rows);
      if (!edge.ready())
        waiting -= edge.advance();
      RC_ASSERT(edge.ready() || waiting == 0);
    }
    edge.end();
    while (!edge.drained()) {
      waiting -= edge.advance();
      RC_ASSERT(edge.ready() || edge.drained());
      if (edge.ready())
        taken += count_of(edge.take(static_cast<std::size_t>(-1)).rows);
    }
    RC_ASSERT(taken == flow.count);
  });
}
