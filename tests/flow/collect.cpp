// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/collected.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "numbered.hpp"

using namespace flow_test;
using twinkle::collect;
using twinkle::collected;
using twinkle::dispatch;
using twinkle::fault;
using twinkle::interval;
using twinkle::metrics;
using twinkle::payload;
using twinkle::result;
using twinkle::weights;
using twinkle::route::machine;
using workers = std::vector<std::size_t>;

namespace {

// The value of a call in which each worker, by its index and what it was given, returns what `body` makes.
template <class Body>
result<collected> value_of(const twinkle::route::team& team, twinkle::route::call wanted, Body body) {
  machine calls{team};
  const auto begun = calls.start(std::move(wanted));
  REQUIRE_FALSE(begun.refused);
  std::optional<twinkle::route::outcome> last;
  for (const auto& each : begun.deliveries)
    last = calls.reply(each.worker, begun.call, body(each.worker, each.input));
  REQUIRE(last);
  return last->value;
}

twinkle::route::call call_for(collect how, twinkle::batch rows) {
  auto wanted = call_with(std::move(rows));
  wanted.result = how;
  return wanted;
}

payload mean_of_rows(std::size_t, const payload& given) {
  const auto& rows = rows_of(given);
  double sum = 0;
  for (const std::int64_t each : numbers_of(rows))
    sum += static_cast<double>(each);
  return metrics{}.mean("loss", sum / static_cast<double>(rows.rows())).sum("sum", sum);
}

double number_in(const result<collected>& from, std::string_view name) {
  return std::get<metrics>(one(from.value())).find(name).value();
}

weights shard_of(std::size_t rank, std::size_t ranks) {
  const twinkle::shard part{0, {rank, rank + 1}, ranks};
  return weights{{{"w", {twinkle::element::f32, {1},
                         twinkle::buffer::of(std::vector<float>{static_cast<float>(rank)}), part}}}};
}

}  // namespace

TEST_CASE("case K-D9: the mean of values 0 to 6 over 4 ranks is 3, for it is weighted by rows") {
  for (const collect how : {collect::by_type, collect::mean}) {
    const auto value = value_of(team_of({.dp_size = 4}), call_for(how, numbered(7)), mean_of_rows);
    CHECK(number_in(value, "loss") == 3.0);
    CHECK(number_in(value, "sum") == 21.0);
  }
}

TEST_CASE("replicas of a data rank count once in a mean and in a sum") {
  const auto team = team_of({.dp_size = 2, .tp_size = 2});
  CHECK(number_in(value_of(team, call_for(collect::mean, numbered(3)), mean_of_rows), "loss") == 1.0);
  CHECK(number_in(value_of(team, call_for(collect::mean, numbered(3)), mean_of_rows), "sum") == 3.0);
}

TEST_CASE("padding copies have no weight in a mean") {
  auto rows = numbered(4);
  std::vector<twinkle::row_tag> tags(rows.tags().begin(), rows.tags().end());
  tags[3].padding = true;
  const auto value = value_of(team_of({.dp_size = 4}), call_for(collect::mean, rows.with_tags(tags)), mean_of_rows);
  CHECK(number_in(value, "loss") == 1.0);
}

TEST_CASE("a worker without rows has no say in a mean") {
  auto wanted = call_for(collect::mean, numbered(2));
  wanted.fewer = twinkle::small::allow_empty;
  const auto value = value_of(team_of({.dp_size = 3}), wanted, mean_of_rows);  // 0 / 0 at the third
  CHECK(number_in(value, "loss") == 0.5);
}

TEST_CASE("where everyone had the whole batch, those after the first are replicas for metrics too") {
  auto wanted = call_for(collect::sum, numbered(3));
  wanted.how = dispatch::all;
  CHECK(number_in(value_of(team_of({.dp_size = 2, .tp_size = 2}), wanted, mean_of_rows), "sum") == 3.0);
}

TEST_CASE("sum adds what means would average") {
  const auto value = value_of(team_of({.dp_size = 2}), call_for(collect::sum, numbered(4)), mean_of_rows);
  CHECK(number_in(value, "loss") == 3.0);
}

TEST_CASE("each gives one result per worker in worker order, first that of the first") {
  const auto team = team_of({.dp_size = 2, .tp_size = 2});
  const auto index = [](std::size_t worker, const payload&) -> payload {
    return metrics{}.sum("worker", static_cast<double>(worker));
  };
  const auto each = value_of(team, call_for(collect::each, numbered(2)), index);
  const auto& values = std::get<std::vector<payload>>(each.value());
  REQUIRE(values.size() == 4);
  for (std::size_t worker = 0; worker < 4; ++worker)
    CHECK(std::get<metrics>(values[worker]).find("worker") == static_cast<double>(worker));
  const auto first = value_of(team, call_for(collect::first, numbered(2)), index);
  CHECK(number_in(first, "worker") == 0.0);
}

TEST_CASE("weights are put together by layout, and void is done") {
  const auto team = team_of({.dp_size = 1, .tp_size = 3});
  const auto whole = value_of(team, {"state"}, [](std::size_t worker, const payload&) -> payload {
    return shard_of(2 - worker, 3);
  });
  const auto* tensor = std::get<weights>(one(whole.value())).find("w");
  REQUIRE(tensor != nullptr);
  CHECK(tensor->shape == std::vector<std::size_t>{3});
  for (std::size_t at = 0; at < 3; ++at)
    CHECK(tensor->values.as<float>()[at] == static_cast<float>(at));

  const auto done = value_of(team, {"load"}, [](std::size_t, const payload&) { return payload{}; });
  CHECK(std::holds_alternative<std::monostate>(one(done.value())));
}

TEST_CASE("weights that lack a part are a fault of the stage that names the tensor") {
  const auto value = value_of(team_of({.dp_size = 1, .tp_size = 2}), {"state"},
                              [](std::size_t, const payload&) -> payload { return shard_of(0, 2); });
  CHECK(value.failure() == fault{"s", "state", std::nullopt, "weights: tensor 'w' ends at 1 of 2"});
}

TEST_CASE("what collect cannot use is a fault of the worker that returned it") {
  const auto team = team_of({.dp_size = 2});
  const auto nothing_from_1 = [](std::size_t worker, const payload& given) {
    return worker == 1 ? payload{} : given;
  };
  CHECK(value_of(team, call_for(collect::by_type, numbered(4)), nothing_from_1).failure() ==
        fault{"s/1", "work", interval{2, 4}, "it returned no batch, and collect concat needs one"});
  CHECK(value_of(team, call_for(collect::mean, numbered(4)), nothing_from_1).failure() ==
        fault{"s/0", "work", interval{0, 2}, "it returned no metrics, and collect sum or mean needs them"});
}

TEST_CASE("a wrong batch is a fault of its worker with its rows, in words of rows_by_parent") {
  const auto value = value_of(team_of({.dp_size = 2}), call_with(numbered(4)), [](std::size_t worker, const payload& given) {
    return worker == 1 ? payload{plain(3)} : given;
  });
  CHECK(value.failure().place == "s/1");
  CHECK(value.failure().rows == interval{2, 4});
  CHECK(value.failure().cause.starts_with("it returned 3 rows for 2 without saying whose they are"));
}

TEST_CASE("columns that differ between workers are a fault of the stage that names them") {
  const auto value = value_of(team_of({.dp_size = 2}), call_with(numbered(4)), [](std::size_t worker, const payload& given) {
    return worker == 1 ? payload{rows_of(given).with(twinkle::column<float>{"x"}, std::vector<float>{1, 2})} : given;
  });
  CHECK(value.failure().place == "s");
  CHECK(value.failure().cause ==
        "cannot put batches together: part 1 has number (i64), x (f32), the first has number (i64)");
}

TEST_CASE("tombstones that workers leave stay between their rows") {
  const auto value = value_of(team_of({.dp_size = 2}), call_with(numbered(4)), [](std::size_t, const payload& given) {
    return payload{rows_of(given).drop(workers{1}, "odd")};
  });
  const auto& rows = rows_of(one(value.value()));
  CHECK(numbers_of(rows) == numbers{0, 2});
  CHECK(lost_in(rows) == std::vector<std::string>{"0:1", "0:3"});
  CHECK(lost_in(rows[interval{0, 1}]) == std::vector<std::string>{"0:1"});
}
