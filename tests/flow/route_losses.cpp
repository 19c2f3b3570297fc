// SPDX-License-Identifier: Apache-2.0
// What a call does about rows that are gone with the node that kept them.
#include <doctest/doctest.h>

#include "numbered.hpp"

using namespace flow_test;
using twinkle::failing;
using twinkle::fault;
using twinkle::route::call;
using twinkle::route::machine;
using twinkle::route::redelivery;

namespace {

const fault broken{"", "", std::nullopt, "broken"};

redelivery only_again(machine& calls) {
  const auto again = calls.take_again(-1);
  REQUIRE(again.size() == 1);
  return again[0];
}

}  // namespace

TEST_CASE("rows of a part that are gone with their node are lost by name, and the others have all their tries left") {
  for (const std::uint64_t other : {2, 3}) {  // another process is lost before: of the other rows, or of none
    machine calls{team_of({.dp_size = 2})};
    call wanted = call_with(join({kept_by(numbered(3), 1), kept_by(numbered(3, 3), 2)}));
    wanted.retries = 1;
    wanted.may_lose = true;
    const auto begun = calls.start(wanted);
    calls.lose_node({other, 1, "node 'c' was lost: it died"});
    CHECK_FALSE(calls.reply(0, begun.call, fault{broken}));
    redelivery again = only_again(calls);
    CHECK(names_of(rows_of(again.what.input)) == std::vector<std::string>{"0:0", "0:1", "0:2"});
    calls.lose_node({1, 1, "node 'b' was lost: it died"});
    const auto ended = calls.reply(again.what.worker, again.id, fault{broken});
    CHECK_FALSE(ended);
    CHECK(calls.take_again(-1).empty());
    const auto lost = calls.take_setbacks();
    REQUIRE(!lost.empty());
    CHECK(lost.back().dropped == 0);
    CHECK(lost[lost.size() - 2].dropped == 3);
    const auto last = calls.reply(1, begun.call, begun.deliveries[1].input);
    REQUIRE(last);
    CHECK(names_of(rows_of(*last)) == std::vector<std::string>{"0:3", "0:4", "0:5"});
    CHECK(lost_in(rows_of(*last)) == std::vector<std::string>{"0:0", "0:1", "0:2"});
    CHECK(rows_of(*last).tombstones()[0].reason == "lost: node 'b' was lost: it died");
  }
}

TEST_CASE("what is left of a part when some of it is gone is not given up for that") {
  machine calls{team_of({.dp_size = 1})};
  call wanted = call_with(join({kept_by(numbered(2), 1), kept_by(numbered(2, 2), 2)}));
  wanted.failed = failing::drops_rows;
  wanted.may_lose = true;
  const auto begun = calls.start(wanted);
  calls.lose_node({1, 1, "node 'b' was lost: it died"});
  CHECK_FALSE(calls.reply(0, begun.call, fault{broken}));
  const redelivery again = only_again(calls);
  CHECK(names_of(rows_of(again.what.input)) == std::vector<std::string>{"0:2", "0:3"});
  const auto last = calls.reply(0, again.id, again.what.input);
  REQUIRE(last);
  CHECK(names_of(rows_of(*last)) == std::vector<std::string>{"0:2", "0:3"});
  CHECK(lost_in(rows_of(*last)) == std::vector<std::string>{"0:0", "0:1"});
}
