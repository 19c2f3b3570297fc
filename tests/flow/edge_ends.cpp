// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/edge_ends.hpp"

#include <doctest/doctest.h>

#include "numbered.hpp"

using namespace flow_test;
using twinkle::batch;
using twinkle::count_of;
using twinkle::group_by_parent;
using twinkle::inlet;
using twinkle::interval;
using twinkle::outlet;
using twinkle::rebatch;
using twinkle::regrouper;
using rows = std::vector<std::size_t>;

namespace {

constexpr std::size_t everything = static_cast<std::size_t>(-1);

inlet plain_inlet() { return inlet{{}, 0}; }

// group_by(parent).rebatch(size), as layouts size its buffer.
inlet grouping(std::size_t size, std::size_t group, std::size_t producer_batch) {
  std::vector<std::unique_ptr<regrouper>> operators;
  operators.push_back(std::make_unique<group_by_parent>());
  operators.push_back(std::make_unique<rebatch>(size, true));
  return inlet{std::move(operators), size + group + producer_batch};
}

}  // namespace

TEST_CASE("an edge without credits is open for two batches of its producer, those under way included") {
  outlet edge{std::nullopt};
  CHECK(edge.open(0, 1));
  CHECK_FALSE(edge.open(0, 2));
  edge.sent(100);
  CHECK(edge.open(0, 0));
  CHECK_FALSE(edge.open(0, 1));
  edge.sent(1);
  CHECK_FALSE(edge.open(0, 0));
  CHECK(edge.outstanding() == 101);
  edge.returned(100);
  CHECK(edge.open(0, 0));
  CHECK(edge.total() == 101);
}

TEST_CASE("a batch is off the edge when all of its rows were taken") {
  outlet edge{std::nullopt};
  edge.sent(4);
  edge.sent(4);
  edge.returned(3);
  CHECK_FALSE(edge.open(0, 0));
  edge.returned(4);  // the rest of the first, and three of the second
  CHECK(edge.open(0, 0));
  CHECK_FALSE(edge.open(0, 1));
  edge.returned(1);
  CHECK(edge.open(0, 1));
  CHECK(edge.outstanding() == 0);
}

TEST_CASE("credits count rows, with those that are expected") {
  outlet edge{8};
  CHECK(edge.open(0, 5));
  CHECK(edge.open(7, 0));
  CHECK_FALSE(edge.open(8, 0));
  edge.sent(5);
  CHECK(edge.open(2, 0));
  CHECK_FALSE(edge.open(3, 0));
}

TEST_CASE("output may overdraw the credits, and is repaid before the next input") {
  outlet edge{4};
  CHECK(edge.open(0, 0));
  edge.sent(10);
  CHECK_FALSE(edge.open(0, 0));
  edge.returned(6);
  CHECK_FALSE(edge.open(0, 0));
  edge.returned(1);
  CHECK(edge.open(0, 0));
}

TEST_CASE("case K-F1: a full edge stops its producer, and nothing is ever dropped") {
  outlet producer{2};
  inlet consumer = plain_inlet();
  std::int64_t made = 0;
  numbers taken;
  for (int round = 0; round < 5; ++round) {
    while (producer.open(0, 0)) {
      producer.sent(1);
      consumer.receive(numbered(1, made++));
    }
    CHECK(producer.outstanding() == 2);
    CHECK(consumer.held() == 2);
    CHECK(consumer.advance() == 0);
    const auto next = consumer.take(everything);
    producer.returned(next.credits);
    taken.push_back(numbers_of(next.rows).front());
  }
  CHECK(made == 6);
  CHECK(taken == numbers{0, 1, 2, 3, 4});
  CHECK(consumer.received() == 6);
}

TEST_CASE("without operators the stage takes, batch by batch, and only then the credits return") {
  inlet edge = plain_inlet();
  edge.receive(numbered(3));
  edge.receive(numbered(2, 3));
  CHECK_FALSE(edge.ready());
  CHECK(edge.advance() == 0);
  REQUIRE(edge.ready());
  CHECK(edge.held() == 5);
  auto taken = edge.take(everything);
  CHECK(numbers_of(taken.rows) == numbers{0, 1, 2});
  CHECK(taken.credits == 3);
  CHECK_FALSE(edge.ready());
  CHECK(edge.advance() == 0);
  CHECK(numbers_of(edge.take(2).rows) == numbers{3, 4});
  CHECK(edge.held() == 0);
}

TEST_CASE("a stage may take the first rows of a batch, with the tombstones behind them") {
  inlet edge = plain_inlet();
  edge.receive(numbered(5).drop(rows{1, 4}, "bad"));
  CHECK(edge.advance() == 0);
  auto part = edge.take(1);
  CHECK(numbers_of(part.rows) == numbers{0});
  CHECK(part.credits == 2);
  CHECK(edge.ready());
  CHECK(edge.held() == 3);
  CHECK(edge.advance() == 0);
  auto rest = edge.take(2);
  CHECK(numbers_of(rest.rows) == numbers{2, 3});
  CHECK(rest.credits == 3);
  CHECK(lost_in(rest.rows) == std::vector<std::string>{"0:4"});
  CHECK_FALSE(edge.ready());
}

TEST_CASE("part of a batch that operators made gives no credits back a second time") {
  inlet edge = grouping(4, 2, 4);
  edge.receive(children(numbered(2), 2));
  CHECK(edge.advance() == 4);
  CHECK(edge.take(3).credits == 0);
  CHECK(edge.take(3).credits == 0);
  CHECK_FALSE(edge.ready());
}

TEST_CASE("operators take while no batch is ready, and give the credits of what they take") {
  inlet edge = grouping(8, 2, 4);
  for (std::int64_t at = 0; at < 2; ++at) {
    edge.receive(children(numbered(2, 2 * at), 2));
    CHECK_FALSE(edge.ready());
    CHECK(edge.advance() == 4);
  }
  REQUIRE(edge.ready());
  CHECK(count_of(edge.front()) == 8);
}

TEST_CASE("while a batch is ready, operators take no more than the buffer holds") {
  inlet edge = grouping(8, 2, 4);  // a buffer of 14
  for (std::int64_t at = 0; at < 5; ++at)
    edge.receive(children(numbered(2, 2 * at), 2));
  CHECK(edge.advance() == 12);
  CHECK(edge.held() == 20);
  CHECK(edge.advance() == 0);
  CHECK(edge.take(everything).rows.rows() == 8);
  CHECK(edge.advance() == 8);
  CHECK(edge.ready());
}

TEST_CASE("case K-F4: 64 rows a call, 8 children each, rebatch(512) is never stuck, within its buffer") {
  constexpr std::size_t made_by_call = 64 * 8;
  inlet edge = grouping(512, 8, made_by_call);
  for (const std::size_t credits : {std::size_t{1}, std::size_t{256}, 2 * made_by_call}) {
    outlet producer{credits};
    std::size_t steps = 0;
    std::size_t calls = 0;
    for (; steps < 6 && calls < 20; ++calls) {
      REQUIRE(producer.open(0, 0));
      const batch rollouts = children(numbered(64), 8);
      producer.sent(count_of(rollouts));
      edge.receive(rollouts);
      producer.returned(edge.advance());
      CHECK(edge.held() - producer.outstanding() <= 512 + 8 + made_by_call);
      while (edge.ready()) {
        CHECK(edge.take(everything).rows.rows() == 512);
        ++steps;
        producer.returned(edge.advance());
      }
    }
    CHECK(steps == 6);
    CHECK(edge.held() == 0);
  }
}

TEST_CASE("an inlet is drained when its end has come and all was taken") {
  inlet edge = plain_inlet();
  CHECK_FALSE(edge.drained());
  edge.receive(numbered(1));
  edge.end();
  CHECK_FALSE(edge.drained());
  CHECK(edge.advance() == 0);
  CHECK_FALSE(edge.drained());
  CHECK(edge.take(everything).rows.rows() == 1);
  CHECK(edge.drained());

  inlet nothing = plain_inlet();
  nothing.end();
  CHECK(nothing.advance() == 0);
  CHECK(nothing.drained());
}

TEST_CASE("the end flushes the operators in order, once") {
  inlet edge = grouping(8, 2, 3);
  edge.receive(children(numbered(4), 2).take(rows{0, 2, 3}));
  CHECK(edge.advance() == 3);
  CHECK_FALSE(edge.ready());
  edge.end();
  CHECK(edge.advance() == 0);
  REQUIRE(edge.ready());
  CHECK(numbers_of(edge.take(everything).rows) == numbers{0, 1, 1});
  CHECK(edge.drained());
  CHECK(edge.advance() == 0);
  CHECK_FALSE(edge.ready());
}
