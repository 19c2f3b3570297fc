// SPDX-License-Identifier: Apache-2.0
// Every row of the table of dispatch, through the machine of calls.
#include "twinkle/flow/rules.hpp"

#include <doctest/doctest.h>

#include "numbered.hpp"
#include "twinkle/flow/regroup.hpp"
#include "twinkle/flow/split.hpp"

using namespace flow_test;
using twinkle::dispatch;
using twinkle::fault;
using twinkle::interval;
using twinkle::metrics;
using twinkle::small;
using twinkle::route::machine;
using twinkle::route::outcome;
using twinkle::route::team;
using rows = std::vector<std::size_t>;

namespace {

constexpr auto cost = twinkle::routed(twinkle::column<std::int64_t>{"cost"});
constexpr twinkle::column<std::int64_t> secret{"secret"};  // not routed
constexpr twinkle::ragged<std::int32_t> tokens{"tokens"};

twinkle::route::call call_by(twinkle::dispatch_rule how, twinkle::batch input, small fewer = small::unset) {
  auto wanted = call_with(std::move(input));
  wanted.how = std::move(how);
  wanted.fewer = fewer;
  return wanted;
}

twinkle::batch with_costs(const numbers& costs) { return numbered(costs.size()).with(cost, costs); }

std::vector<numbers> given_to(const machine::started& begun) {
  std::vector<numbers> found;
  for (const auto& each : begun.deliveries)
    found.push_back(numbers_of(rows_of(each.input)));
  return found;
}

// Each worker returns what `body` makes of what it was given, the last worker first.
template <class Body>
outcome answered(machine& calls, const machine::started& begun, Body body) {
  std::optional<outcome> last;
  for (auto each = begun.deliveries.rbegin(); each != begun.deliveries.rend(); ++each)
    last = calls.reply(each->worker, begun.call, body(rows_of(each->input)));
  REQUIRE(last);
  return *last;
}

twinkle::payload echo(const twinkle::batch& given) { return given; }

std::string refused_with(const machine::started& begun) {
  REQUIRE(begun.refused);
  return begun.refused->value.failure().cause;
}

}  // namespace

TEST_CASE("dispatch slice gives each worker an even slice, whatever the mesh, and collects from all") {
  machine calls{team_of({.dp_size = 2, .tp_size = 2})};
  const auto begun = calls.start(call_by(dispatch::slice, numbered(6)));
  CHECK(given_to(begun) == std::vector<numbers>{{0, 1}, {2, 3}, {4}, {5}});
  CHECK(numbers_of(rows_of(answered(calls, begun, echo))) == numbers{0, 1, 2, 3, 4, 5});

  auto summed = call_by(dispatch::slice, numbered(6));
  summed.result = twinkle::collect::sum;
  const auto sum = calls.start(summed);
  const auto value = answered(calls, sum, [](const twinkle::batch& given) {
    return twinkle::payload{metrics{}.sum("rows", static_cast<double>(given.rows()))};
  });
  CHECK(std::get<metrics>(one(value.value.value())).find("rows") == 6.0);
  CHECK(refused_with(calls.start(call_by(dispatch::slice, numbered(3)))).find("3 rows are fewer than the 4 workers") == 0);
}

TEST_CASE("case K-D6: balanced by a column, equal counts, and back in the order of the input") {
  machine calls{team_of({.dp_size = 2, .tp_size = 2})};
  const auto begun = calls.start(call_by(twinkle::balanced(cost), with_costs({10, 1, 1, 1, 1, 10})));
  const auto given = given_to(begun);
  CHECK(given[0].size() == 3);
  CHECK(given[2].size() == 3);
  CHECK(given[0] == given[1]);
  CHECK(given[0].front() == 0);
  CHECK(numbers_of(rows_of(answered(calls, begun, echo))) == numbers{0, 1, 2, 3, 4, 5});
}

TEST_CASE("case K-D6: free counts follow the costs, which may be the lengths of a ragged column") {
  machine calls{team_of({.dp_size = 2})};
  const auto free = twinkle::balanced(cost, {.equal_counts = false});
  CHECK(given_to(calls.start(call_by(free, with_costs({100, 1, 1, 1})))) == std::vector<numbers>{{0}, {1, 2, 3}});
  const auto words = numbered(4).with(tokens, {{1}, {1, 2, 3}, {4}, {5}});
  CHECK(given_to(calls.start(call_by(twinkle::balanced(tokens, {.equal_counts = false}), words))) ==
        std::vector<numbers>{{0, 2, 3}, {1}});
}

TEST_CASE("what decides between stages sees routed columns only") {
  machine calls{team_of({.dp_size = 2})};
  const auto rows = numbered(4).with(secret, {1, 2, 3, 4});
  CHECK(refused_with(calls.start(call_by(twinkle::balanced(secret), rows))) ==
        "column 'secret' is not routed, so that it cannot be read between stages; declare its key with twinkle::routed");
  const auto reads = twinkle::rows_by([](const twinkle::batch& seen, const team&) {
    CHECK(numbers_of(seen) == numbers{0, 1, 2, 3});
    (void)seen[secret];
    return std::vector<std::vector<std::size_t>>{};
  });
  CHECK(refused_with(calls.start(call_by(reads, rows))).find("column 'secret' is not routed") == 0);
  twinkle::filter_rows even([](const twinkle::batch& seen) { return std::vector<bool>(seen[secret].rows()); }, "x");
  CHECK_THROWS_AS((void)even.add(rows), twinkle::error);
}

TEST_CASE("balanced rows without identities come back in their order as well") {
  machine calls{team_of({.dp_size = 2})};
  const auto begun = calls.start(call_by(twinkle::balanced(cost), plain(4).with(cost, {1, 9, 2, 8})));
  CHECK(numbers_of(rows_of(answered(calls, begun, echo))) == numbers{0, 1, 2, 3});
}

TEST_CASE("children of balanced rows come back by parent, and dropped ones as tombstones") {
  machine calls{team_of({.dp_size = 2})};
  const auto begun = calls.start(call_by(twinkle::balanced(cost), with_costs({1, 9, 2, 8})));
  const auto value = answered(calls, begun, [](const twinkle::batch& given) {
    return twinkle::payload{children(given, 2).drop(rows{1}, "bad")};
  });
  const auto found = numbers_of(rows_of(value));
  CHECK(found.size() == 6);
  CHECK(std::is_sorted(found.begin(), found.end()));
  CHECK(lost_in(rows_of(value)) == std::vector<std::string>{"0:0/1", "0:2/1"});
}

TEST_CASE("siblings stay on one data rank where groups are to stay whole") {
  machine calls{team_of({.dp_size = 2})};
  const auto begun = calls.start(call_by(twinkle::by_groups(), children(numbered(3), 2)));
  CHECK(given_to(begun) == std::vector<numbers>{{0, 0, 2, 2}, {1, 1}});
  CHECK(numbers_of(rows_of(answered(calls, begun, echo))) == numbers{0, 0, 1, 1, 2, 2});
  CHECK(refused_with(calls.start(call_by(twinkle::by_groups(), plain(4)))) ==
        "rows of one group are to stay together, but the rows have no identities");
}

TEST_CASE("groups that are fewer than the data ranks are refused, or filled up with marked copies, each a group") {
  machine calls{team_of({.dp_size = 4})};
  const twinkle::batch two_groups = children(numbered(2), 3);
  CHECK(refused_with(calls.start(call_by(twinkle::by_groups(), two_groups))) ==
        "the 2 groups of 6 rows are fewer than the 4 data ranks of device group 'devices'; send more rows, or allow it with "
        ".small = small::pad or small::allow_empty");
  auto padded = call_by(twinkle::by_groups(), two_groups);
  padded.fewer = twinkle::small::pad;
  const auto begun = calls.start(padded);
  auto given = given_to(begun);
  std::sort(given.begin(), given.end());
  CHECK(given == std::vector<numbers>{{0}, {0}, {0, 0, 0}, {1, 1, 1}});
  std::size_t copies = 0;
  for (const auto& each : begun.deliveries)
    for (const twinkle::row_tag& tag : rows_of(each.input).tags())
      copies += tag.padding ? 1 : 0;
  CHECK(copies == 2);
  const twinkle::batch value = rows_of(answered(calls, begun, echo));
  CHECK(numbers_of(value) == numbers{0, 0, 0, 1, 1, 1});
  CHECK(names_of(value) == names_of(two_groups));
  // As few rows as groups, or fewer.
  auto one = call_by(twinkle::by_groups(), children(numbered(1), 3));
  one.fewer = twinkle::small::pad;
  CHECK(numbers_of(rows_of(answered(calls, calls.start(one), echo))) == numbers{0, 0, 0});
}

TEST_CASE("what a dispatch function says is done, and what it cannot mean is refused") {
  machine calls{team_of({.dp_size = 2})};
  const auto says = [](std::vector<rows> lists) {
    return twinkle::rows_by([lists](const twinkle::batch&, const team&) { return lists; });
  };
  const auto begun = calls.start(call_by(says({{2, 0}, {1}}), numbered(3)));
  CHECK(given_to(begun) == std::vector<numbers>{{2, 0}, {1}});
  CHECK(numbers_of(rows_of(answered(calls, begun, echo))) == numbers{0, 1, 2});
  CHECK(refused_with(calls.start(call_by(says({{0}}), numbered(1)))) ==
        "the dispatch function names rows for 1 workers; there are 2");
  CHECK(refused_with(calls.start(call_by(says({{0}, {0}}), numbered(2)))) ==
        "the dispatch function gives row 1 to no worker; drop rows with a filter");
  CHECK(refused_with(calls.start(call_by(says({{0}, {1, 1}}), numbered(2)))) ==
        "the dispatch function gives s/1 row 1 twice");
  CHECK(refused_with(calls.start(call_by(says({{0}, {2}}), numbered(2)))) ==
        "the dispatch function gives s/1 row 2, and there are 2");
}

TEST_CASE("one row from two workers that are no replicas is a fault that names both") {
  machine calls{team_of({.dp_size = 2})};
  const auto both = twinkle::rows_by([](const twinkle::batch&, const team&) { return std::vector<rows>{{0, 1}, {1}}; });
  const auto begun = calls.start(call_by(both, numbered(2)));
  CHECK(answered(calls, begun, echo).value.failure().cause ==
        "row 0:1 came from s/0 and from s/1, which are no replicas of each other");
}

TEST_CASE("case K-D3: 3 rows on 8 data ranks are padded in turn, and what descends from copies is dropped") {
  machine calls{team_of({.dp_size = 8})};
  const auto wanted = call_by(dispatch::slice_dp, numbered(3), small::pad);
  const auto begun = calls.start(wanted);
  CHECK(given_to(begun) == std::vector<numbers>{{0}, {1}, {2}, {0}, {1}, {2}, {0}, {1}});
  CHECK_FALSE(rows_of(begun.deliveries[2].input).tags()[0].padding);
  CHECK(rows_of(begun.deliveries[3].input).tags()[0].padding);
  CHECK(numbers_of(rows_of(answered(calls, begun, echo))) == numbers{0, 1, 2});
  const auto twice = answered(calls, calls.start(wanted), [](const twinkle::batch& given) {
    return twinkle::payload{children(given, 2)};
  });
  CHECK(numbers_of(rows_of(twice)) == numbers{0, 0, 1, 1, 2, 2});
}

TEST_CASE("case K-D3: one value for each rank is not trimmed, and a mean is over the real rows") {
  machine calls{team_of({.dp_size = 8})};
  auto each = call_by(dispatch::slice_dp, numbered(3), small::pad);
  each.result = twinkle::collect::each;
  const auto loss = [](const twinkle::batch& given) {
    return twinkle::payload{metrics{}.mean("loss", static_cast<double>(numbers_of(given).front()))};
  };
  CHECK(std::get<std::vector<twinkle::payload>>(answered(calls, calls.start(each), loss).value.value()).size() == 8);
  each.result = twinkle::collect::mean;
  CHECK(std::get<metrics>(one(answered(calls, calls.start(each), loss).value.value())).find("loss") == 1.0);
}

TEST_CASE("case K-M5: 3 rows on 4 data ranks, padded, give 3 rows with and without identities and by any slice") {
  for (const twinkle::dispatch_rule& how :
       {twinkle::dispatch_rule{dispatch::slice_dp}, twinkle::dispatch_rule{dispatch::slice}, twinkle::balanced(number)})
    for (const twinkle::batch& input : {numbered(3), plain(3)}) {
      machine calls{team_of({.dp_size = 4})};
      const auto begun = calls.start(call_by(how, input, small::pad));
      for (const numbers& given : given_to(begun))
        CHECK(given.size() == 1);
      const auto value = answered(calls, begun, echo);
      REQUIRE_MESSAGE(value.value.has_value(), value.value.failure().cause);
      CHECK(numbers_of(rows_of(value)) == numbers{0, 1, 2});
    }
  machine calls{team_of({.dp_size = 4})};
  CHECK(calls.start(call_by(dispatch::slice_dp, numbered(0), small::pad)).refused);
}

TEST_CASE("case K-D1: pp 2, dp 2, tp 2 collect last_pp from ranks 4 and 6, and last_pp_first from 4") {
  machine calls{team_of({.dp_size = 2, .pp_size = 2, .tp_size = 2})};
  auto wanted = call_with(numbered(2));
  const auto value_of = [&](twinkle::collect how) {
    wanted.result = how;
    const auto begun = calls.start(wanted);
    std::optional<outcome> last;
    for (const auto& each : begun.deliveries)
      last = calls.reply(each.worker, begun.call,
                         twinkle::payload{metrics{}.sum("worker", static_cast<double>(each.worker))});
    return last->value.value();
  };
  const auto both = std::get<std::vector<twinkle::payload>>(value_of(twinkle::collect::last_pp));
  REQUIRE(both.size() == 2);
  CHECK(std::get<metrics>(both[0]).find("worker") == 4.0);
  CHECK(std::get<metrics>(both[1]).find("worker") == 6.0);
  CHECK(std::get<metrics>(one(value_of(twinkle::collect::last_pp_first))).find("worker") == 4.0);
}

TEST_CASE("a collect function sees every result, and its fault is the outcome") {
  machine calls{team_of({.dp_size = 2})};
  auto wanted = call_with(numbered(2));
  wanted.result = twinkle::results_by([](const team& of, std::span<const twinkle::route::returned> all) {
    return twinkle::collected{twinkle::payload{metrics{}.sum(of.stage, static_cast<double>(all.size()))}};
  });
  CHECK(std::get<metrics>(one(answered(calls, calls.start(wanted), echo).value.value())).find("s") == 2.0);
  wanted.result = twinkle::results_by([](const team&, std::span<const twinkle::route::returned>) {
    return twinkle::result<twinkle::collected>{fault{"", "", std::nullopt, "no"}};
  });
  CHECK(answered(calls, calls.start(wanted), echo).value.failure().cause == "no");
}

TEST_CASE("case K-D8: data ranks that need 3 and 2 micro-batches both run 3, the added one of no weight") {
  machine calls{team_of({.dp_size = 2, .tp_size = 2})};
  auto wanted = call_by(dispatch::slice_dp, with_costs({6, 6, 6, 6, 3, 3}));
  wanted.micro_batches = std::make_shared<const twinkle::micro_batch_rule>(
      twinkle::micro_batch_rule{twinkle::costs_of(cost), 6});
  const auto begun = calls.start(wanted);
  REQUIRE(begun.deliveries.size() == 4);
  for (const auto& each : begun.deliveries) {
    REQUIRE(each.micro_batches);
    CHECK(each.micro_batches->size() == 3);
    CHECK(each.micro_batches->back().dummy == (each.worker >= 2));
  }
  CHECK(begun.deliveries[2].micro_batches == begun.deliveries[3].micro_batches);
}

TEST_CASE("case K-D8: virtual stages raise the number, and an endpoint that refuses dummies is not called at all") {
  team two = team_of({.dp_size = 2});
  two.virtual_stages = 2;
  machine calls{two};
  auto wanted = call_by(dispatch::slice_dp, numbered(3));
  twinkle::micro_batch_rule one_each{{}, 1};
  wanted.micro_batches = std::make_shared<const twinkle::micro_batch_rule>(one_each);
  const auto begun = calls.start(wanted);
  REQUIRE(begun.deliveries.size() == 2);
  CHECK(begun.deliveries[0].micro_batches->size() == 2);
  CHECK(begun.deliveries[1].micro_batches->back().dummy);
  one_each.allow_dummies = false;
  wanted.micro_batches = std::make_shared<const twinkle::micro_batch_rule>(one_each);
  const auto refused = calls.start(wanted);
  CHECK(refused.deliveries.empty());
  CHECK(refused_with(refused).find("the rows make 3, but 4 have to run") != std::string::npos);
}

TEST_CASE("costs that are below 0, or not one for each row, refuse the call") {
  machine calls{team_of({.dp_size = 2})};
  CHECK(refused_with(calls.start(call_by(twinkle::balanced(cost), with_costs({1, -2})))) ==
        "column 'cost': row 1 costs -2; a cost is 0 or more");
  CHECK(refused_with(calls.start(call_by(twinkle::balanced(cost), numbered(2)))).find("cost") != std::string::npos);
}

TEST_CASE("case K-D10: a consumer's slice is made of the rows of its producers only, where they lie") {
  machine producers{team_of({.dp_size = 4})};
  const auto begun = producers.start(call_by(dispatch::slice_dp, numbered(7)));
  std::vector<const std::int64_t*> made;
  const auto joined = answered(producers, begun, [&](const twinkle::batch& given) {
    const twinkle::batch rows = given.with(number, numbers_of(given));
    made.insert(made.begin(), rows[number].values().data());
    return twinkle::payload{rows};
  });
  machine consumers{team_of({.dp_size = 2})};
  const auto next = consumers.start(call_with(rows_of(joined)));
  const twinkle::batch& first = rows_of(next.deliveries[0].input);
  const twinkle::batch& second = rows_of(next.deliveries[1].input);
  CHECK(numbers_of(first) == numbers{0, 1, 2, 3});
  CHECK(numbers_of(second) == numbers{4, 5, 6});
  const auto at = [](const twinkle::batch& rows, std::size_t from, std::size_t to) {
    return rows[interval{from, to}][number].values().data();
  };
  CHECK(at(first, 0, 2) == made[0]);
  CHECK(at(first, 2, 4) == made[1]);
  CHECK(at(second, 0, 2) == made[2]);
  CHECK(at(second, 2, 3) == made[3]);
}

TEST_CASE("case K-D11: 10 rows in mini-batches of 4, cut from the whole and then sliced, are all trained") {
  machine calls{team_of({.dp_size = 2})};
  const twinkle::batch whole = numbered(10);
  std::vector<std::size_t> counts;
  numbers trained;
  for (const interval& each : twinkle::mini_batches(10, 4)) {
    const auto begun = calls.start(call_with(whole[each]));
    for (const numbers& given : given_to(begun))
      trained.insert(trained.end(), given.begin(), given.end());
    counts.push_back(each.size());
  }
  CHECK(counts == rows{4, 4, 2});
  CHECK(trained == numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}
