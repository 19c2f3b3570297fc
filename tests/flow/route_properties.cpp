// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <set>

#include "for_all.hpp"
#include "numbered.hpp"
#include "twinkle/mesh/transfer_plan.hpp"

using namespace flow_test;
using twinkle::batch;
using twinkle::fault;
using twinkle::route::machine;
using twinkle::route::outcome;
using sizes = std::vector<std::size_t>;

namespace {

twinkle::mesh_sizes any_mesh() {
  const auto size = [] { return *rc::gen::inRange<std::int64_t>(1, 4); };
  twinkle::mesh_sizes of;
  of.fsdp_size = size();
  of.dp_size = size();
  of.pp_size = size();
  of.cp_size = *rc::gen::inRange<std::int64_t>(1, 3);
  of.tp_size = size();
  if ((*of.fsdp_size * of.dp_size) % 2 == 0)
    of.ulysses_size = *rc::gen::element<std::int64_t>(1, 2);
  return of;
}

twinkle::route::team any_team() {
  const twinkle::mesh_sizes of = any_mesh();
  return team_of(of, *rc::gen::element<std::size_t>(1, static_cast<std::size_t>(*of.tp_size)));
}

// As many rows as data ranks, or more.
batch any_rows(const twinkle::route::team& team) {
  return numbered(team.data_ranks() + *rc::gen::inRange<std::size_t>(0, 12));
}

// Row i goes to the data rank after that of row i - 1, a few of them out of order.
std::vector<sizes> dealt_out(const batch& rows, const twinkle::route::team& team) {
  std::vector<sizes> lists(team.workers());
  for (std::size_t worker = 0; worker < team.workers(); ++worker)
    for (std::size_t row = rows.rows(); row > 0; --row)
      if ((row * 7 + row / 3) % team.data_ranks() == team.data_rank[worker])
        lists[worker].push_back(row - 1);
  return lists;
}

// Any dispatch, with rows enough for it, or padded.
twinkle::route::call any_call(const twinkle::route::team& team) {
  using twinkle::dispatch;
  auto wanted = call_with(any_rows(team));
  wanted.how = *rc::gen::elementOf(std::vector<twinkle::dispatch_rule>{
      dispatch::by_type, dispatch::slice_dp, dispatch::slice, dispatch::all, twinkle::balanced(number),
      twinkle::balanced(number, {.equal_counts = false}), twinkle::by_groups(), twinkle::rows_by(dealt_out)});
  wanted.fewer = twinkle::small::pad;
  if (*rc::gen::inRange(0, 4) == 0)
    wanted.input = numbered(*rc::gen::inRange<std::size_t>(1, team.data_ranks() + 1));
  return wanted;
}

sizes any_order(std::size_t count) {
  sizes order(count);
  for (std::size_t at = 0; at < count; ++at)
    order[at] = at;
  for (std::size_t at = count; at > 1; --at)
    std::swap(order[at - 1], order[*rc::gen::inRange<std::size_t>(0, at)]);
  return order;
}

// What a row's number says of its children: dropped, none, or some.
std::size_t children_of(std::int64_t number) { return static_cast<std::size_t>(number % 4); }
bool dropped(std::int64_t number) { return number % 5 == 3; }

// Expands each row by its number, drops some children, and returns the rest in an order of its own.
batch work(const batch& given, const sizes& order) {
  sizes parents;
  const auto values = numbers_of(given);
  for (std::size_t row = 0; row < values.size(); ++row)
    parents.insert(parents.end(), children_of(values[row]), row);
  const batch made = given.expand(parents);
  sizes bad;
  for (std::size_t row = 0; row < made.rows(); ++row)
    if (dropped(numbers_of(made)[row] + static_cast<std::int64_t>(row)))
      bad.push_back(row);
  const batch kept = made.drop(bad, "bad");
  sizes shuffled;
  for (const std::size_t at : order)
    if (at < kept.rows())
      shuffled.push_back(at);
  return kept.take(shuffled);
}

}  // namespace

TEST_CASE("whatever the dispatch, any order of replies gives the rows in the order of the input") {
  for_all([] {
    const auto team = any_team();
    const auto wanted = any_call(team);
    const batch input = rows_of(wanted.input);
    machine calls{team};
    const auto begun = calls.start(wanted);
    RC_ASSERT(!begun.refused);
    std::optional<outcome> last;
    for (const std::size_t at : any_order(begun.deliveries.size())) {
      RC_ASSERT(!last);
      last = calls.reply(begun.deliveries[at].worker, begun.call, begun.deliveries[at].input);
    }
    RC_ASSERT(last.has_value());
    RC_ASSERT(numbers_of(rows_of(*last)) == numbers_of(input));
    RC_ASSERT(names_of(rows_of(*last)) == names_of(input));
  });
}

TEST_CASE("rows that are expanded, dropped and shuffled come back in the order of their parents, each accounted for") {
  for_all([] {
    const auto team = any_team();
    const auto wanted = any_call(team);
    const batch input = rows_of(wanted.input);
    machine calls{team};
    const auto begun = calls.start(wanted);
    std::optional<outcome> last;
    for (const std::size_t at : any_order(begun.deliveries.size())) {
      const batch& given = rows_of(begun.deliveries[at].input);
      const sizes order = any_order(3 * given.rows());
      last = calls.reply(begun.deliveries[at].worker, begun.call, twinkle::payload{work(given, order)});
    }
    RC_ASSERT(last.has_value());
    RC_ASSERT(last->value.has_value());
    const batch value = rows_of(*last);
    const numbers found = numbers_of(value);
    RC_ASSERT(std::is_sorted(found.begin(), found.end()));
    std::size_t expected = 0;
    for (const std::int64_t each : numbers_of(input))
      expected += std::max<std::size_t>(children_of(each), 1);
    RC_ASSERT(value.rows() + value.tombstone_count() == expected);
    std::set<std::string> names;
    for (const auto& all : {names_of(value), lost_in(value)})
      names.insert(all.begin(), all.end());
    RC_ASSERT(names.size() == expected);
  });
}

TEST_CASE("a failure at any point gives exactly one outcome, whatever comes after it") {
  for_all([] {
    const auto team = any_team();
    machine calls{team};
    auto wanted = call_with(any_rows(team));
    wanted.deadline = std::chrono::seconds(1);
    const auto begun = calls.start(wanted);
    const sizes order = any_order(begun.deliveries.size());
    const auto fails = *rc::gen::inRange<std::size_t>(0, order.size());
    std::vector<outcome> seen;
    const auto hear = [&](std::optional<outcome> next) {
      if (next)
        seen.push_back(std::move(*next));
    };
    for (std::size_t turn = 0; turn < order.size(); ++turn) {
      const auto& each = begun.deliveries[order[turn]];
      if (turn == fails)
        hear(calls.reply(each.worker, begun.call, fault{"", "", std::nullopt, "broken"}));
      else
        hear(calls.reply(each.worker, begun.call, each.input));
      if (turn == fails)
        RC_ASSERT(seen.size() == 1);
    }
    for (outcome& late : calls.expire(std::chrono::hours(1)))
      hear(std::move(late));
    RC_ASSERT(seen.size() == 1);
    RC_ASSERT(seen[0].value.failure().place == team.places[begun.deliveries[order[fails]].worker]);
    RC_ASSERT(seen[0].unfinished.size() == order.size() - fails - 1);
    RC_ASSERT(calls.in_flight() == 0);
  });
}

TEST_CASE("a deadline at any point gives exactly one outcome, which names all who were silent") {
  for_all([] {
    const auto team = any_team();
    machine calls{team};
    auto wanted = call_with(any_rows(team));
    wanted.deadline = std::chrono::seconds(1);
    const auto begun = calls.start(wanted);
    const sizes order = any_order(begun.deliveries.size());
    const auto answers = *rc::gen::inRange<std::size_t>(0, order.size());
    for (std::size_t turn = 0; turn < answers; ++turn)
      RC_ASSERT(!calls.reply(begun.deliveries[order[turn]].worker, begun.call, begun.deliveries[order[turn]].input));
    const auto expired = calls.expire(std::chrono::seconds(1));
    RC_ASSERT(expired.size() == 1);
    std::set<std::size_t> silent(expired[0].unfinished.begin(), expired[0].unfinished.end());
    for (std::size_t turn = 0; turn < order.size(); ++turn)
      RC_ASSERT(silent.contains(begun.deliveries[order[turn]].worker) == (turn >= answers));
    for (const std::size_t at : order)
      RC_ASSERT(!calls.reply(begun.deliveries[at].worker, begun.call, begun.deliveries[at].input));
  });
}

TEST_CASE("a consumer's slice is what the transfer plan says: each row where its producer made it, none that it needs not") {
  for_all([] {
    const auto from = twinkle::device_mesh::from_sizes(any_mesh());
    const auto to = any_mesh();
    const auto rows = std::max(from.data_ranks(), team_of(to).data_ranks()) + *rc::gen::inRange<std::size_t>(0, 20);
    machine producers{team_of(from.sizes())};
    const auto begun = producers.start(call_with(numbered(rows)));
    std::optional<outcome> made;
    std::vector<batch> results;  // by rank
    for (const auto& each : begun.deliveries) {
      const batch& given = rows_of(each.input);
      results.push_back(given.with(number, numbers_of(given)));
      made = producers.reply(each.worker, begun.call, twinkle::payload{results.back()});
    }
    machine consumers{team_of(to)};
    const auto next = consumers.start(call_with(rows_of(*made)));
    const auto source = producer_layout(from, rows);
    const auto target = consumer_layout(twinkle::device_mesh::from_sizes(to), rows);
    sizes had(target.held.size(), 0);
    for (const twinkle::transfer& each : plan_transfers(source, target).transfers) {
      const auto here = [&](const batch& all, twinkle::interval held) {
        return all[{each.rows.first - held.first, each.rows.end - held.first}][number].values().data();
      };
      RC_ASSERT(here(rows_of(next.deliveries.at(each.target).input), target.held[each.target]) ==
                here(results.at(each.source), source.held[each.source]));
      had[each.target] += each.rows.size();
    }
    for (std::size_t rank = 0; rank < had.size(); ++rank)
      RC_ASSERT(had[rank] == rows_of(next.deliveries.at(rank).input).rows());
  });
}
