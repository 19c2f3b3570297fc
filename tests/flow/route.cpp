// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/route.hpp"

#include <doctest/doctest.h>

#include "numbered.hpp"

using namespace flow_test;
using namespace std::chrono_literals;
using twinkle::dispatch;
using twinkle::fault;
using twinkle::interval;
using twinkle::small;
using twinkle::route::machine;
using twinkle::route::outcome;
using workers = std::vector<std::size_t>;

namespace {

std::vector<numbers> given_to(const machine::started& begun) {
  std::vector<numbers> found;
  for (const auto& each : begun.deliveries)
    found.push_back(numbers_of(rows_of(each.input)));
  return found;
}

// Each worker returns what it was given, in the order of `order`; the outcome of the last.
std::optional<outcome> echo(machine& calls, const machine::started& begun, const workers& order) {
  std::optional<outcome> last;
  for (const std::size_t at : order) {
    CHECK_FALSE(last);
    last = calls.reply(begun.deliveries[at].worker, begun.call, begun.deliveries[at].input);
  }
  return last;
}

}  // namespace

TEST_CASE("a batch is sliced by data rank, and replicas get the same slice") {
  machine calls{team_of({.dp_size = 2, .tp_size = 2})};
  const auto begun = calls.start(call_with(numbered(5)));
  CHECK(given_to(begun) == std::vector<numbers>{{0, 1, 2}, {0, 1, 2}, {3, 4}, {3, 4}});
}

TEST_CASE("case K-M1: the slices of a mesh with fsdp outermost and ulysses go by data rank, not by worker") {
  machine calls{team_of({.fsdp_size = 4, .dp_size = 2, .ulysses_size = 2})};
  const auto begun = calls.start(call_with(numbered(7)));
  CHECK(given_to(begun) ==
        std::vector<numbers>{{0, 1}, {4, 5}, {0, 1}, {4, 5}, {2, 3}, {6}, {2, 3}, {6}});
  CHECK(numbers_of(rows_of(*echo(calls, begun, {7, 6, 5, 4, 3, 2, 1, 0}))) == numbers{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("case K-D2: a worker of several ranks serves their data rank; its index is no rank of the mesh") {
  machine calls{team_of({.dp_size = 2, .tp_size = 4}, 4)};
  const auto begun = calls.start(call_with(numbered(4)));
  CHECK(given_to(begun) == std::vector<numbers>{{0, 1}, {2, 3}});
  CHECK(numbers_of(rows_of(*echo(calls, begun, {1, 0}))) == numbers{0, 1, 2, 3});
}

TEST_CASE("dispatch all gives every worker the whole batch, and the result has it once") {
  machine calls{team_of({.dp_size = 2, .tp_size = 2})};
  auto wanted = call_with(numbered(3));
  wanted.how = dispatch::all;
  const auto begun = calls.start(wanted);
  CHECK(given_to(begun) == std::vector<numbers>(4, {0, 1, 2}));
  CHECK(numbers_of(rows_of(*echo(calls, begun, {3, 1, 0, 2}))) == numbers{0, 1, 2});
}

TEST_CASE("dispatch first asks the first worker only") {
  machine calls{team_of({.dp_size = 2, .pp_size = 2})};
  auto wanted = call_with(numbered(1));
  wanted.how = dispatch::first;
  const auto begun = calls.start(wanted);
  REQUIRE(begun.deliveries.size() == 1);
  CHECK(begun.deliveries[0].worker == 0);
  CHECK(calls.silent(begun.call) == workers{0});
  CHECK(numbers_of(rows_of(*echo(calls, begun, {0}))) == numbers{0});
}

TEST_CASE("what is no batch goes to every worker, and cannot be sliced") {
  machine calls{team_of({.dp_size = 2})};
  const auto begun = calls.start({"load", dispatch::by_type, twinkle::collect::by_type, small::unset,
                                  twinkle::weights{}});
  CHECK(begun.deliveries.size() == 2);
  const auto refused = calls.start({"load", dispatch::slice_dp, twinkle::collect::by_type, small::unset,
                                    twinkle::weights{}}).refused;
  REQUIRE(refused);
  CHECK(refused->value.failure() == fault{"s", "load", std::nullopt, "it is to be cut by its dispatch, which needs a batch"});
}

TEST_CASE("workers never see tombstones") {
  machine calls{team_of({.dp_size = 2})};
  const auto begun = calls.start(call_with(numbered(4).drop(workers{1}, "bad")));
  CHECK(given_to(begun) == std::vector<numbers>{{0, 2}, {3}});
  for (const auto& each : begun.deliveries)
    CHECK(rows_of(each.input).tombstone_count() == 0);
}

TEST_CASE("case K-D1: dp 2 x tp 2 and 4 rows return 4 rows, not 8") {
  machine calls{team_of({.dp_size = 2, .tp_size = 2})};
  const auto begun = calls.start(call_with(numbered(4)));
  CHECK(numbers_of(rows_of(*echo(calls, begun, {0, 1, 2, 3}))) == numbers{0, 1, 2, 3});
}

TEST_CASE("case K-D5: replies in the order 2,0,3,1 give rows in the order of the input") {
  machine calls{team_of({.dp_size = 4})};
  const auto begun = calls.start(call_with(numbered(7)));
  CHECK(numbers_of(rows_of(*echo(calls, begun, {2, 0, 3, 1}))) == numbers{0, 1, 2, 3, 4, 5, 6});
  CHECK(calls.in_flight() == 0);
}

TEST_CASE("case K-D5: a failure is the outcome at once, while another worker is still silent") {
  machine calls{team_of({.dp_size = 4})};
  auto wanted = call_with(numbered(8));
  wanted.deadline = 10min;
  const auto begun = calls.start(wanted);
  CHECK_FALSE(calls.reply(3, begun.call, begun.deliveries[3].input));
  const auto failed = calls.reply(2, begun.call, fault{"", "", std::nullopt, "out of memory"});
  REQUIRE(failed);
  CHECK(failed->call == begun.call);
  CHECK(failed->value.failure() == fault{"s/2", "work", interval{4, 6}, "out of memory"});
  CHECK(failed->unfinished == workers{0, 1});
  CHECK(calls.expire(10min).empty());
}

TEST_CASE("a fault that says where it happened keeps it") {
  machine calls{team_of({.dp_size = 1})};
  const auto begun = calls.start(call_with(numbered(2)));
  const fault said{"elsewhere", "inner", interval{1, 2}, "why"};
  CHECK(calls.reply(0, begun.call, said)->value.failure() == said);
}

TEST_CASE("replies that come late, twice or from nowhere change nothing") {
  machine calls{team_of({.dp_size = 2})};
  const auto begun = calls.start(call_with(numbered(2)));
  CHECK_FALSE(calls.reply(0, begun.call, begun.deliveries[0].input));
  CHECK_FALSE(calls.reply(0, begun.call, fault{"s/0", "work", std::nullopt, "said twice"}));
  CHECK_FALSE(calls.reply(7, begun.call, twinkle::payload{}));
  CHECK_FALSE(calls.reply(1, begun.call + 1, twinkle::payload{}));
  CHECK(calls.silent(begun.call) == workers{1});
  const auto done = calls.reply(1, begun.call, begun.deliveries[1].input);
  REQUIRE(done);
  CHECK(numbers_of(rows_of(*done)) == numbers{0, 1});
  CHECK_FALSE(calls.reply(1, begun.call, fault{"s/1", "work", std::nullopt, "late"}));
  CHECK(calls.silent(begun.call).empty());
}

TEST_CASE("calls in flight do not touch each other, whichever ends first") {
  machine calls{team_of({.dp_size = 2})};
  const auto first = calls.start(call_with(numbered(2)));
  const auto second = calls.start(call_with(numbered(4, 10)));
  CHECK(first.call != second.call);
  CHECK(calls.in_flight() == 2);
  const auto done = echo(calls, second, {1, 0});
  CHECK(done->call == second.call);
  CHECK(numbers_of(rows_of(*done)) == numbers{10, 11, 12, 13});
  CHECK(numbers_of(rows_of(*echo(calls, first, {0, 1}))) == numbers{0, 1});
}

TEST_CASE("a deadline names those who did not answer") {
  machine calls{team_of({.dp_size = 4})};
  auto wanted = call_with(numbered(8));
  wanted.deadline = 5s;
  const auto begun = calls.start(wanted);
  wanted.deadline = 3s;
  const auto shorter = calls.start(wanted);
  CHECK_FALSE(calls.start(call_with(numbered(8))).refused);  // without a deadline
  CHECK(calls.next_deadline() == 3s);
  CHECK(calls.expire(3s - 1ns).empty());
  for (const std::size_t worker : {3, 0})
    CHECK_FALSE(calls.reply(worker, begun.call, begun.deliveries[worker].input));

  const auto expired = calls.expire(5s);
  REQUIRE(expired.size() == 2);
  CHECK(expired[0].call == begun.call);
  CHECK(expired[0].value.failure() ==
        fault{"s", "work", interval{2, 4}, "no answer at the deadline (5.000s) from s/1, s/2"});
  CHECK(expired[0].unfinished == workers{1, 2});
  CHECK(expired[1].call == shorter.call);
  CHECK(expired[1].unfinished == workers{0, 1, 2, 3});
  CHECK(calls.expire(1h).empty());
  CHECK_FALSE(calls.next_deadline());
  CHECK(calls.in_flight() == 1);
}

TEST_CASE("case K-M5: fewer rows than data ranks are refused by endpoint, group and both numbers") {
  machine calls{team_of({.dp_size = 4, .tp_size = 2})};
  for (const small policy : {small::unset, small::refuse}) {
    auto wanted = call_with(numbered(3));
    wanted.fewer = policy;
    const auto begun = calls.start(wanted);
    REQUIRE(begun.refused);
    CHECK(begun.deliveries.empty());
    CHECK(begun.refused->call == begun.call);
    CHECK(begun.refused->value.failure() ==
          fault{"s", "work", interval{0, 3},
                "3 rows are fewer than the 4 data ranks of device group 'devices'; send more rows, or allow it with "
                ".small = small::pad or small::allow_empty"});
  }
  CHECK(calls.in_flight() == 0);
}

TEST_CASE("case K-M5: where it is allowed, workers are called with no rows") {
  machine calls{team_of({.dp_size = 4})};
  auto wanted = call_with(numbered(3));
  wanted.fewer = small::allow_empty;
  const auto begun = calls.start(wanted);
  CHECK(given_to(begun) == std::vector<numbers>{{0}, {1}, {2}, {}});
  CHECK(numbers_of(rows_of(*echo(calls, begun, {3, 2, 1, 0}))) == numbers{0, 1, 2});

  wanted.input = numbered(0);
  const auto nothing = calls.start(wanted);
  CHECK(nothing.deliveries.size() == 4);
  CHECK(rows_of(*echo(calls, nothing, {0, 1, 2, 3})).rows() == 0);
}

TEST_CASE("forgotten calls get no outcome") {
  machine calls{team_of({.dp_size = 2})};
  auto wanted = call_with(numbered(2));
  wanted.deadline = 1s;
  const auto begun = calls.start(wanted);
  calls.forget();
  CHECK(calls.in_flight() == 0);
  CHECK_FALSE(calls.reply(0, begun.call, fault{"", "", std::nullopt, "late"}));
  CHECK(calls.expire(1h).empty());
  CHECK(calls.start(wanted).call != begun.call);
}
