// SPDX-License-Identifier: Apache-2.0
#include "twinkle/sim/connection.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace tk = twinkle;
using namespace std::chrono_literals;
using tk::sim::connection;

namespace {

using numbers = std::vector<std::size_t>;

numbers heard;  // at the other end

void send(connection& on, std::size_t number, tk::time_point now, tk::duration takes) {
  on.send([number] { heard.push_back(number); }, now, takes);
}

numbers arrived(connection& on, tk::time_point now) {
  heard.clear();
  while (const auto what = on.take(now))
    (*what)();
  return heard;
}

}  // namespace

TEST_CASE("on a connection nothing overtakes what was sent before it") {
  connection on;
  send(on, 0, 0ms, 5ms);
  send(on, 1, 1ms, 1ms);
  CHECK(arrived(on, 4ms) == numbers{});
  REQUIRE(on.next());
  CHECK(*on.next() == 5ms);
  CHECK(arrived(on, 5ms) == numbers{0, 1});
  CHECK_FALSE(on.next());
}

TEST_CASE("what is on its way when a connection is cut arrives when it is back, in order") {
  connection on;
  send(on, 0, 0ms, 5ms);
  on.cut();
  send(on, 1, 1ms, 1ms);
  CHECK_FALSE(on.next());
  CHECK(arrived(on, 1s) == numbers{});
  on.heal(1s);
  send(on, 2, 1s, 0ms);
  CHECK(arrived(on, 1004ms) == numbers{});
  CHECK(arrived(on, 1005ms) == numbers{0, 1, 2});
}

TEST_CASE("a connection that is cut twice is back when both have healed") {
  connection on;
  send(on, 0, 0ms, 0ms);
  on.cut();
  on.cut();
  on.heal(1s);
  CHECK(arrived(on, 2s) == numbers{});
  on.heal(2s);
  CHECK(arrived(on, 2s) == numbers{0});
}

TEST_CASE("what is on its way to or from a node that is gone never arrives") {
  connection on;
  send(on, 0, 0ms, 0ms);
  on.forget();
  send(on, 1, 0ms, 0ms);
  CHECK(arrived(on, 1s) == numbers{1});
}
