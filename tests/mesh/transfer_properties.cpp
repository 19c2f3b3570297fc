// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "for_all.hpp"
#include "twinkle/mesh/transfer_plan.hpp"

using twinkle::device_mesh;
using twinkle::interval;
using twinkle::layout;
using twinkle::plan_transfers;
using twinkle::transfer;
using twinkle::transfer_plan;

namespace {

// Which row lies at each row of what a rank holds; unset where nothing does.
using held_rows = std::vector<std::vector<std::optional<std::size_t>>>;

interval any_interval(std::size_t extent) {
  const auto a = *rc::gen::inRange<std::size_t>(0, extent + 1);
  const auto b = *rc::gen::inRange<std::size_t>(0, extent + 1);
  return {std::min(a, b), std::max(a, b)};
}

// Ranks that cover the extent between them, and some that hold whatever they hold.
layout any_layout(std::size_t extent) {
  layout made{extent};
  std::size_t next = 0;
  while (next < extent) {
    const auto end = *rc::gen::inRange<std::size_t>(next + 1, extent + 1);
    made.held.push_back({next, end});
    next = end;
  }
  for (auto more = *rc::gen::inRange(0, 4); more > 0; --more)
    made.held.push_back(*rc::gen::arbitrary<bool>() || made.held.empty() ? any_interval(extent)
                                                                         : *rc::gen::elementOf(made.held));
  for (std::size_t rank = 0; rank < made.held.size(); ++rank)
    std::swap(made.held[rank], made.held[*rc::gen::inRange<std::size_t>(0, made.held.size())]);
  return made;
}

layout with_places(layout of) {
  for (std::size_t rank = 0; rank < of.held.size(); ++rank)
    of.places.push_back(*rc::gen::inRange<std::size_t>(0, 4));
  return of;
}

layout maybe_with_places(layout of) { return *rc::gen::arbitrary<bool>() ? with_places(std::move(of)) : of; }

device_mesh any_mesh() {
  const auto size = [] { return *rc::gen::inRange<std::int64_t>(1, 5); };
  return device_mesh::from_sizes({.fsdp_size = size(), .dp_size = size(), .pp_size = size(), .tp_size = size()});
}

held_rows rows_of(const layout& of) {
  held_rows rows;
  for (const interval& held : of.held) {
    rows.emplace_back(held.size());
    std::iota(rows.back().begin(), rows.back().end(), held.first);
  }
  return rows;
}

// Does what the plan says. What a source does not hold, or a target does not want, is an error of the plan.
held_rows follow(const transfer_plan& plan, const layout& source, const layout& target, const held_rows& from) {
  held_rows to;
  for (const interval& held : target.held)
    to.emplace_back(held.size());
  const auto copy = [&](const transfer& each) {
    RC_ASSERT(!each.rows.empty());
    for (std::size_t row = each.rows.first; row < each.rows.end; ++row) {
      RC_ASSERT(source.held.at(each.source).contains(row));
      RC_ASSERT(target.held.at(each.target).contains(row));
      auto& at = to[each.target][row - target.held[each.target].first];
      RC_ASSERT(!at.has_value());
      at = from[each.source][row - source.held[each.source].first];
    }
  };
  std::for_each(plan.transfers.begin(), plan.transfers.end(), copy);
  std::for_each(plan.in_place.begin(), plan.in_place.end(), copy);
  return to;
}

bool at_place(const layout& source, std::size_t place, std::size_t row) {
  for (std::size_t rank = 0; rank < source.held.size(); ++rank)
    if (source.places[rank] == place && source.held[rank].contains(row))
      return true;
  return false;
}

// The fewest intervals of the source that make up `wanted`, by trying all.
std::size_t fewest(const layout& source, interval wanted) {
  std::vector<std::size_t> best(wanted.end + 1, wanted.end + 1);
  best[wanted.first] = 0;
  for (std::size_t at = wanted.first; at < wanted.end; ++at)
    for (const interval& held : source.held)
      for (std::size_t end = at + 1; held.contains(at) && end <= std::min(held.end, wanted.end); ++end)
        best[end] = std::min(best[end], best[at] + 1);
  return best[wanted.end];
}

}  // namespace

TEST_CASE("every row that a target needs comes once, from who holds it") {
  for_all([] {
    const auto extent = *rc::gen::inRange<std::size_t>(0, 30);
    const layout source = maybe_with_places(any_layout(extent));
    const layout target = maybe_with_places(any_layout(extent));
    const transfer_plan plan = plan_transfers(source, target);
    RC_ASSERT(follow(plan, source, target, rows_of(source)) == rows_of(target));
  });
}

TEST_CASE("as few rows are moved as can be: those that are not at the target's place") {
  for_all([] {
    const auto extent = *rc::gen::inRange<std::size_t>(0, 30);
    const layout source = with_places(any_layout(extent));
    const layout target = with_places(any_layout(extent));
    const transfer_plan plan = plan_transfers(source, target);
    std::size_t away = 0;
    for (std::size_t rank = 0; rank < target.held.size(); ++rank)
      for (std::size_t row = target.held[rank].first; row < target.held[rank].end; ++row)
        away += at_place(source, target.places[rank], row) ? 0 : 1;
    RC_ASSERT(plan.rows_moved() == away);
    for (const transfer& each : plan.in_place)
      RC_ASSERT(source.places[each.source] == target.places[each.target]);
  });
}

TEST_CASE("a target is served in as few transfers as can be") {
  for_all([] {
    const auto extent = *rc::gen::inRange<std::size_t>(1, 30);
    const layout source = any_layout(extent);
    const layout target = any_layout(extent);
    std::vector<std::size_t> counts(target.held.size(), 0);
    for (const transfer& each : plan_transfers(source, target).transfers)
      ++counts[each.target];
    for (std::size_t rank = 0; rank < counts.size(); ++rank)
      RC_ASSERT(counts[rank] == (target.held[rank].empty() ? 0 : fewest(source, target.held[rank])));
  });
}

TEST_CASE("there and back is the identity") {
  for_all([] {
    const auto extent = *rc::gen::inRange<std::size_t>(0, 30);
    const layout here = maybe_with_places(any_layout(extent));
    const layout there = maybe_with_places(any_layout(extent));
    const held_rows sent = follow(plan_transfers(here, there), here, there, rows_of(here));
    RC_ASSERT(follow(plan_transfers(there, here), there, here, sent) == rows_of(here));
  });
}

TEST_CASE("a layout that stays where it is moves nothing") {
  for_all([] {
    const layout same = with_places(any_layout(*rc::gen::inRange<std::size_t>(0, 30)));
    RC_ASSERT(plan_transfers(same, same).transfers.empty());
  });
}

TEST_CASE("replicas are asked as often as each other, give or take one") {
  for_all([] {
    const auto replicas = *rc::gen::inRange<std::size_t>(1, 8);
    const layout source{10, std::vector<interval>(replicas, interval{0, 10})};
    layout target{10};
    for (auto more = *rc::gen::inRange(1, 30); more > 0; --more)
      target.held.push_back({0, *rc::gen::inRange<std::size_t>(1, 11)});
    std::vector<std::size_t> times(replicas, 0);
    for (const transfer& each : plan_transfers(source, target).transfers)
      ++times[each.source];
    const auto [least, greatest] = std::minmax_element(times.begin(), times.end());
    RC_ASSERT(*greatest - *least <= 1);
  });
}

TEST_CASE("rows pass from mesh to mesh: representatives give, and every rank gets the rows of its data rank") {
  for_all([] {
    const device_mesh from = any_mesh();
    const device_mesh to = any_mesh();
    const auto rows = *rc::gen::inRange<std::size_t>(0, 100);
    const layout source = producer_layout(from, rows);
    const layout target = consumer_layout(to, rows);
    const transfer_plan plan = plan_transfers(source, target);
    RC_ASSERT(follow(plan, source, target, rows_of(source)) == rows_of(target));
    const auto representatives = from.representatives();
    for (const transfer& each : plan.transfers)
      RC_ASSERT(std::find(representatives.begin(), representatives.end(), each.source) != representatives.end());
  });
}
