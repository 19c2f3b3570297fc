// SPDX-License-Identifier: Apache-2.0
// What a call does about workers that fail, fall silent, are gone, or return unfinished rows.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <set>

#include "for_all.hpp"
#include "numbered.hpp"

using namespace flow_test;
using namespace std::chrono_literals;
using twinkle::batch;
using twinkle::failing;
using twinkle::fault;
using twinkle::payload;
using twinkle::route::call;
using twinkle::route::machine;
using twinkle::route::outcome;
using twinkle::route::redelivery;
using sizes = std::vector<std::size_t>;

namespace {

const fault broken{"", "", std::nullopt, "broken"};

call retried(std::size_t rows, std::size_t retries, failing failed = failing::ends_run) {
  call wanted = call_with(numbered(rows));
  wanted.retries = retries;
  wanted.failed = failed;
  return wanted;
}

redelivery only_again(machine& calls, std::int64_t version = -1) {
  const auto again = calls.take_again(version);
  REQUIRE(again.size() == 1);
  return again[0];
}

}  // namespace

TEST_CASE("rows whose worker fails go to the next worker, and the call is what it would have been") {
  machine calls{team_of({.dp_size = 3})};
  const auto begun = calls.start(retried(6, 1));
  CHECK_FALSE(calls.reply(1, begun.call, fault{broken}));
  const redelivery again = only_again(calls);
  CHECK(again.call == begun.call);
  CHECK(again.what.worker == 2);
  CHECK(numbers_of(rows_of(again.what.input)) == numbers{2, 3});
  CHECK_FALSE(calls.reply(2, begun.call, begun.deliveries[2].input));
  CHECK_FALSE(calls.reply(0, begun.call, begun.deliveries[0].input));
  const auto last = calls.reply(2, again.id, again.what.input);
  REQUIRE(last);
  CHECK(numbers_of(rows_of(*last)) == numbers{0, 1, 2, 3, 4, 5});
  const auto seen = calls.take_setbacks();
  REQUIRE(seen.size() == 1);
  CHECK(to_string(seen[0].why) == "s/1 in work, rows [2,4): broken");
  CHECK(seen[0].dropped == 0);
}

TEST_CASE("a worker that has answered is chosen before one that is busy") {
  machine calls{team_of({.dp_size = 3})};
  const auto begun = calls.start(retried(3, 1));
  CHECK_FALSE(calls.reply(0, begun.call, begun.deliveries[0].input));
  CHECK_FALSE(calls.reply(1, begun.call, fault{broken}));
  CHECK(only_again(calls).what.worker == 0);
}

TEST_CASE("when its retries are used up a call fails with the last cause, or loses the rows by name") {
  for (const failing failed : {failing::ends_run, failing::drops_rows}) {
    machine calls{team_of({.dp_size = 2})};
    const auto begun = calls.start(retried(4, 1, failed));
    CHECK_FALSE(calls.reply(0, begun.call, begun.deliveries[0].input));
    CHECK_FALSE(calls.reply(1, begun.call, fault{broken}));
    const redelivery again = only_again(calls);
    const auto last = calls.reply(again.what.worker, again.id, fault{broken});
    REQUIRE(last);
    if (failed == failing::ends_run) {
      CHECK(to_string(last->value.failure()) == "s/0 in work, rows [2,4): broken");
      continue;
    }
    CHECK(numbers_of(rows_of(*last)) == numbers{0, 1});
    CHECK(lost_in(rows_of(*last)) == std::vector<std::string>{"0:2", "0:3"});
    CHECK(rows_of(*last).tombstones()[0].reason == "lost: s/0 in work, rows [2,4): broken");
    CHECK(calls.take_setbacks().back().dropped == 2);
  }
}

TEST_CASE("a replica that fails when it has closed all of its rows does not lose those that its peer still works on") {
  machine calls{team_of({.dp_size = 1, .tp_size = 2})};
  const auto begun = calls.start(retried(3, 1));
  calls.closed(1, begun.call, children(rows_of(begun.deliveries[1].input), 1));
  CHECK_FALSE(calls.reply(1, begun.call, fault{broken}));
  const auto again = calls.take_again(-1);
  REQUIRE(again.size() == 2);
  CHECK(numbers_of(rows_of(again[0].what.input)) == numbers{0, 1, 2});
  for (const auto& each : calls.take_setbacks())
    CHECK(each.dropped == 0);
}

TEST_CASE("case K-F6: a failed generation is a tombstone with its cause, never a row") {
  machine calls{team_of({.dp_size = 2})};
  const auto begun = calls.start(retried(2, 0, failing::drops_rows));
  CHECK_FALSE(calls.reply(0, begun.call, fault{broken}));
  const auto last = calls.reply(1, begun.call, begun.deliveries[1].input);
  REQUIRE(last);
  CHECK(names_of(rows_of(*last)) == std::vector<std::string>{"0:1"});
  CHECK(lost_in(rows_of(*last)) == std::vector<std::string>{"0:0"});
}

TEST_CASE("the parent is the unit of commit: what was closed before the failure is not done again") {
  machine calls{team_of({.dp_size = 2})};
  const auto begun = calls.start(retried(6, 1));
  const batch given = rows_of(begun.deliveries[0].input);
  const batch first = children(given[{0, 1}], 2);
  calls.closed(0, begun.call, first);
  CHECK_FALSE(calls.reply(0, begun.call, fault{broken}));
  const redelivery again = only_again(calls);
  CHECK(numbers_of(rows_of(again.what.input)) == numbers{1, 2});
  CHECK_FALSE(calls.reply(1, begun.call, payload{children(rows_of(begun.deliveries[1].input), 2)}));
  const auto last = calls.reply(1, again.id, payload{children(rows_of(again.what.input), 2)});
  REQUIRE(last);
  CHECK(numbers_of(rows_of(*last)) == numbers{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
}

TEST_CASE("all workers of a data rank go to another together, and those that still work are called back") {
  machine calls{team_of({.dp_size = 2, .tp_size = 2})};
  const auto begun = calls.start(retried(4, 1));
  CHECK_FALSE(calls.reply(1, begun.call, fault{broken}));
  const auto again = calls.take_again(-1);
  REQUIRE(again.size() == 2);
  CHECK(again[0].what.worker == 2);
  CHECK(again[1].what.worker == 3);
  const auto recalled = calls.take_recalls(0s);
  REQUIRE(recalled.size() == 1);
  CHECK(recalled[0].worker == 0);
  CHECK(recalled[0].id == begun.call);
  CHECK_FALSE(calls.reply(0, begun.call, begun.deliveries[0].input));  // late, and harmless
  for (const std::size_t worker : {2, 3})
    CHECK_FALSE(calls.reply(worker, begun.call, begun.deliveries[worker].input));
  CHECK_FALSE(calls.reply(2, again[0].id, again[0].what.input));
  const auto last = calls.reply(3, again[1].id, again[1].what.input);
  REQUIRE(last);
  CHECK(numbers_of(rows_of(*last)) == numbers{0, 1, 2, 3});
}

TEST_CASE("at the deadline of a call with retries the silent ones are called back, and it goes on with others") {
  machine calls{team_of({.dp_size = 2})};
  call wanted = retried(4, 1);
  wanted.deadline = 5s;
  const auto begun = calls.start(wanted);
  CHECK_FALSE(calls.reply(0, begun.call, begun.deliveries[0].input));
  CHECK(calls.expire(5s).empty());
  CHECK(calls.take_recalls(5s).at(0).worker == 1);
  const redelivery again = only_again(calls);
  CHECK(again.what.worker == 0);
  CHECK(calls.take_setbacks().at(0).why.cause == "no answer at the deadline (5.000s) from s/1");
  REQUIRE(calls.reply(0, again.id, again.what.input));
  CHECK(calls.take_hung(14s).empty());
  CHECK(calls.next_deadline() == twinkle::time_point(15s));
  const auto hung = calls.take_hung(15s);
  REQUIRE(hung.size() == 1);
  CHECK(hung[0].worker == 1);
  CHECK(hung[0].endpoint == "work");
}

TEST_CASE("one that leaves its work when it is called back is not hung") {
  machine calls{team_of({.dp_size = 2})};
  call wanted = retried(4, 1);
  wanted.deadline = 5s;
  const auto begun = calls.start(wanted);
  CHECK(calls.expire(5s).empty());
  for (const std::size_t worker : {0, 1})
    CHECK_FALSE(calls.reply(worker, begun.call, fault{broken}));
  CHECK(calls.take_hung(1h).empty());
}

TEST_CASE("patience begins when a worker is told, however long nothing has happened before") {
  machine calls{team_of({.dp_size = 2, .tp_size = 2})};
  const auto begun = calls.start(retried(4, 1));
  CHECK_FALSE(calls.reply(1, begun.call, fault{broken}));
  CHECK(calls.take_recalls(1h).at(0).worker == 0);
  CHECK(calls.take_hung(1h + 9s).empty());
  CHECK(calls.take_hung(1h + 10s).at(0).worker == 0);
}

TEST_CASE("a worker that is busy with what came first is not hung, for it has not seen that it is called back") {
  machine calls{team_of({.dp_size = 1, .tp_size = 2})};
  const auto first = calls.start(retried(1, 1));
  const auto second = calls.start(retried(1, 1));
  CHECK_FALSE(calls.reply(0, first.call, first.deliveries[0].input));
  CHECK_FALSE(calls.reply(0, second.call, fault{broken}));
  CHECK(calls.take_recalls(0s).at(0).worker == 1);
  CHECK(calls.take_hung(10s).empty());
  REQUIRE(calls.reply(1, first.call, first.deliveries[1].input));
  CHECK(calls.take_hung(19s).empty());
  CHECK(calls.take_hung(20s).at(0).worker == 1);
}

TEST_CASE("a worker that hangs is named for what it works on; what waits behind that is put off, not blamed") {
  machine calls{team_of({.dp_size = 2})};
  for (int turn = 0; turn < 2; ++turn) {
    call wanted = retried(2, 1);
    wanted.endpoint = turn == 0 ? "first" : "second";
    wanted.deadline = 5s;
    const auto begun = calls.start(wanted);
    CHECK_FALSE(calls.reply(0, begun.call, begun.deliveries[0].input));
  }
  CHECK(calls.expire(5s).empty());
  CHECK(calls.take_recalls(5s).size() == 1);
  CHECK(calls.take_postponed() == std::vector<twinkle::route::call_id>{0, 1});
  const auto hung = calls.take_hung(15s);
  REQUIRE(hung.size() == 1);
  CHECK(hung[0].endpoint == "first");
  CHECK(calls.take_hung(1h).empty());
}

TEST_CASE("the rows of a worker that is gone go to others, and it gets no more") {
  machine calls{team_of({.dp_size = 3})};
  const auto begun = calls.start(retried(3, 1));
  CHECK(calls.lose(1, "it died", false).empty());
  CHECK(only_again(calls).what.worker == 2);
  CHECK(calls.take_recalls(0s).empty());
  const auto next = calls.start(retried(3, 1));
  REQUIRE(next.deliveries.size() == 2);
  CHECK(numbers_of(rows_of(only_again(calls).what.input)) == numbers{1});
}

TEST_CASE("without retries a worker that is gone fails the call, with place, endpoint, rows and cause") {
  machine calls{team_of({.dp_size = 2})};
  (void)calls.start(call_with(numbered(4)));
  const auto ended = calls.lose(1, "it died", false);
  REQUIRE(ended.size() == 1);
  CHECK(to_string(ended[0].value.failure()) == "s/1 in work, rows [2,4): it died");
  const auto refused = calls.start(call_with(numbered(4)));
  REQUIRE(refused.refused);
  CHECK(to_string(refused.refused->value.failure()) == "s/1 in work, rows [2,4): it died");
}

TEST_CASE("where nobody is left, rows wait for one that returns") {
  machine calls{team_of({.dp_size = 1})};
  const auto begun = calls.start(retried(2, 1));
  CHECK(calls.lose(0, "it died", true).empty());
  CHECK(calls.take_again(4).empty());
  CHECK(calls.regain(0).empty());
  const redelivery again = only_again(calls, 5);
  CHECK(rows_of(again.what.input).tags()[0].version == 5);
  CHECK(calls.call_of(again.id) == begun.call);
  REQUIRE(calls.reply(0, again.id, again.what.input));
}

TEST_CASE("a call that spares the lost is done without them") {
  machine calls{team_of({.dp_size = 2})};
  call all = call_with(numbered(1));
  all.how = twinkle::dispatch::all;
  all.result = twinkle::collect::each;
  all.spares_lost = true;
  const auto begun = calls.start(all);
  CHECK_FALSE(calls.reply(0, begun.call, payload{}));
  CHECK(calls.lose(1, "it died", false).size() == 1);
  CHECK(calls.start(all).deliveries.size() == 1);
  CHECK(calls.lose(0, "it died", false).size() == 1);
  REQUIRE(calls.start(all).refused);
}

TEST_CASE("unfinished rows are gone on with by the next worker, and come back whole in their place") {
  machine calls{team_of({.dp_size = 2})};
  const auto begun = calls.start(call_with(numbered(4)));
  const batch given = rows_of(begun.deliveries[0].input);
  CHECK_FALSE(calls.reply(0, begun.call, payload{given.with(number, {10, 11}).unfinished(sizes{0})}));
  const redelivery again = only_again(calls, 7);
  CHECK(again.what.worker == 0);  // the other still works
  CHECK(numbers_of(rows_of(again.what.input)) == numbers{10});
  CHECK_FALSE(rows_of(again.what.input).tags()[0].unfinished);
  CHECK(rows_of(again.what.input).tags()[0].version == -1);  // of its oldest part
  CHECK_FALSE(calls.reply(1, begun.call, begun.deliveries[1].input));
  const auto last = calls.reply(again.what.worker, again.id, payload{rows_of(again.what.input).with(number, {100})});
  REQUIRE(last);
  CHECK(numbers_of(rows_of(*last)) == numbers{100, 11, 2, 3});
}

TEST_CASE("rows that are worked on again carry the version of who takes them") {
  machine calls{team_of({.dp_size = 2})};
  const auto begun = calls.start(retried(2, 1));
  CHECK_FALSE(calls.reply(0, begun.call, fault{broken}));
  const redelivery again = only_again(calls, 7);
  CHECK(rows_of(again.what.input).tags()[0].version == 7);
  CHECK_FALSE(calls.reply(1, begun.call, begun.deliveries[1].input));
  const auto last = calls.reply(1, again.id, payload{plain(1, 5)});  // without identities
  REQUIRE(last);
  CHECK(rows_of(*last).tags()[0].version == 7);
  CHECK(numbers_of(rows_of(*last)) == numbers{5, 1});
}

namespace {

// A worker's rows, each of which becomes two, some closed first; the rest returned, unfinished, or lost with it.
struct worker_at_work {
  std::size_t worker = 0;
  twinkle::route::call_id id = 0;
  batch given;
};

batch two_of_each(const batch& rows) { return rows.tags().empty() || rows.tags()[0].id.depth > 0 ? rows : children(rows, 2); }

}  // namespace

TEST_CASE("whatever fails and in whatever order, each row comes back once, or is lost by name once, in one outcome") {
  for_all([] {
    twinkle::mesh_sizes sizes_of;
    sizes_of.dp_size = *rc::gen::inRange<std::int64_t>(1, 5);
    sizes_of.tp_size = *rc::gen::inRange<std::int64_t>(1, 3);
    const auto team = team_of(sizes_of);
    machine calls{team};
    const auto rows = team.data_ranks() + *rc::gen::inRange<std::size_t>(0, 10);
    const auto begun = calls.start(retried(rows, *rc::gen::inRange<std::size_t>(0, 3), failing::drops_rows));
    std::vector<worker_at_work> open;
    for (const auto& each : begun.deliveries)
      open.push_back({each.worker, begun.call, rows_of(each.input)});
    std::optional<outcome> last;
    for (std::size_t turn = 0; !open.empty() && turn < 200; ++turn) {
      const auto at = *rc::gen::inRange<std::size_t>(0, open.size());
      const worker_at_work work = open[at];
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
      const auto hear = [&](std::optional<outcome> next) {
        RC_ASSERT(!next || !last);
        if (next)
          last = std::move(next);
      };
      switch (turn < 100 ? *rc::gen::inRange(0, 5) : 0) {
        case 1:
          if (team.workers() == team.data_ranks() && !work.given.empty())
            calls.closed(work.worker, work.id, two_of_each(work.given[{0, 1}]));
          [[fallthrough]];
        case 2: hear(calls.reply(work.worker, work.id, fault{broken})); break;
        case 3:
          if (team.workers() == team.data_ranks() && !work.given.empty()) {
            hear(calls.reply(work.worker, work.id, payload{two_of_each(work.given).unfinished(sizes{0})}));
            break;
          }
          [[fallthrough]];
        default: hear(calls.reply(work.worker, work.id, payload{two_of_each(work.given)}));
      }
      for (const auto& each : calls.take_again(-1))
        open.push_back({each.what.worker, each.id, rows_of(each.what.input)});
    }
    RC_ASSERT(last.has_value());
    RC_ASSERT(last->value.has_value());
    const batch value = rows_of(*last);
    const numbers found = numbers_of(value);
    RC_ASSERT(std::is_sorted(found.begin(), found.end()));
    std::multiset<std::string> names;
    for (const auto& all : {names_of(value), lost_in(value)})
      names.insert(all.begin(), all.end());
    for (std::size_t row = 0; row < rows; ++row) {
      const std::string name = "0:" + std::to_string(row);
      const bool whole = names.count(name + "/0") == 1 && names.count(name + "/1") == 1;
      RC_ASSERT(whole != (names.count(name) == 1));
    }
    RC_ASSERT(calls.in_flight() == 0);
  });
}
