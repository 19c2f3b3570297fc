// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/emitter.hpp"

#include <doctest/doctest.h>

#include "numbered.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/flow/collected.hpp"
#include "twinkle/flow/route.hpp"

using namespace flow_test;
using twinkle::batch;
using twinkle::emitter;
using names = std::vector<std::string>;

TEST_CASE("rows that are emitted are children of their parent, handed out at once, and together in the parents' order") {
  const batch given = numbered(3);
  std::vector<names> handed;
  emitter out{given, [&](const batch& rows) { handed.push_back(names_of(rows)); }};
  out(2, plain(2, 20));
  out(0, plain(1, 0));
  out(1, batch{});
  CHECK(handed == std::vector<names>{{"0:2/0", "0:2/1"}, {"0:0/0"}, {}});
  CHECK(names_of(out.all()) == names{"0:0/0", "0:2/0", "0:2/1"});
  CHECK(numbers_of(out.all()) == numbers{0, 20, 21});
  CHECK(lost_in(out.all()) == names{"0:1"});
  CHECK(std::holds_alternative<batch>(twinkle::route::rows_by_parent(given, out.all())));
}

TEST_CASE("a parent is closed once, and must be one that was given") {
  const batch given = numbered(2);
  emitter out{given, [](const batch&) {}};
  out(0, plain(1));
  CHECK_THROWS_WITH_AS(out(0, plain(1)), "emit: row 0:0 is closed twice; emit all its rows at once", twinkle::error);
  CHECK_THROWS_WITH_AS(out(2, plain(1)), "emit: row 2 is closed, but 2 rows were given", twinkle::error);
}

TEST_CASE("a parent that is left unfinished keeps its name, and is not handed out") {
  const batch given = numbered(3);
  std::vector<names> handed;
  emitter out{given, [&](const batch& rows) { handed.push_back(names_of(rows)); }};
  out(0, plain(2));
  out.unfinished(1, plain(1, 7));
  out(2, plain(1));
  CHECK(handed == std::vector<names>{{"0:0/0", "0:0/1"}, {"0:2/0"}});
  CHECK(names_of(out.all()) == names{"0:0/0", "0:0/1", "0:1", "0:2/0"});
  CHECK(names_of(twinkle::route::finished_rows(out.all())) == names{"0:0/0", "0:0/1", "0:2/0"});
  CHECK_THROWS_WITH_AS(out.unfinished(1, plain(1)), "emit: row 0:1 is closed twice; emit all its rows at once",
                       twinkle::error);
  emitter other{given, [](const batch&) {}};
  CHECK_THROWS_WITH_AS(other.unfinished(0, plain(2)),
                       "emit: row 0:0 is left unfinished as 2 rows; it goes on as one", twinkle::error);
}

TEST_CASE("a parent that was never closed is told by name") {
  const batch given = numbered(2);
  emitter out{given, [](const batch&) {}};
  out(0, plain(1));
  CHECK(std::get<std::string>(twinkle::route::rows_by_parent(given, out.all())) ==
        "it returned nothing for row 0:1; use in.drop(rows, reason) for rows that are to be dropped");
}
