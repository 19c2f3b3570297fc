// SPDX-License-Identifier: Apache-2.0
// Calls whose workers are given some columns only, while the others go around them.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "for_all.hpp"
#include "numbered.hpp"

using namespace flow_test;
using twinkle::batch;
using twinkle::fault;
using twinkle::interval;
using twinkle::payload;
using twinkle::route::call;
using twinkle::route::machine;
using twinkle::route::outcome;
using names = std::vector<std::string>;
using sizes = std::vector<std::size_t>;

namespace {

inline constexpr twinkle::ragged<std::int32_t> tokens{"tokens"};
inline constexpr twinkle::column<float> score{"score"};

// Each row's tokens are as many as its number says, mod 5, and all are its number.
batch wide(const batch& rows) {
  std::vector<std::vector<std::int32_t>> values;
  for (const std::int64_t each : numbers_of(rows))
    values.emplace_back(each % 5, static_cast<std::int32_t>(each));
  return rows.with(tokens, values);
}

call reading_numbers(const batch& rows) {
  call wanted = call_with(rows);
  wanted.reads = std::make_shared<const names>(names{"number"});
  return wanted;
}

const batch& input_of(const machine::started& begun, std::size_t at) { return rows_of(begun.deliveries[at].input); }

std::vector<float> scores(const batch& of) { return std::vector<float>(of.rows(), 0.5F); }

// Whether each row, whatever it descends from, has the tokens of its number.
bool has_its_tokens(const batch& rows) {
  const numbers values = numbers_of(rows);
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    const auto found = rows[tokens][row];
    const std::vector<std::int32_t> expected(values[row] % 5, static_cast<std::int32_t>(values[row]));
    if (!std::equal(found.begin(), found.end(), expected.begin(), expected.end()))
      return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a worker is given the columns that its endpoint reads; the others are beside its rows again, uncopied") {
  machine calls{team_of({.dp_size = 2})};
  const batch input = wide(numbered(6, 10));
  const auto begun = calls.start(reading_numbers(input));
  CHECK(input_of(begun, 0).names() == names{"number"});
  CHECK_FALSE(calls.reply(1, begun.call, payload{input_of(begun, 1).with(score, scores(input_of(begun, 1)))}));
  // As a new batch, which takes the identities of the rows.
  const auto last = calls.reply(0, begun.call, payload{batch{}.with(score, {1, 2, 3}).with(number, {7, 8, 9})});
  REQUIRE(last);
  const batch made = rows_of(*last);
  CHECK(names_of(made) == names_of(input));
  CHECK(numbers_of(made) == numbers{7, 8, 9, 13, 14, 15});
  for (std::size_t row = 0; row < 6; ++row)
    CHECK(made[interval{0, 6}][tokens][row].size() == (10 + row) % 5);
  CHECK(made[interval{0, 3}][tokens][1].data() == input[tokens][1].data());
}

TEST_CASE("a column that is not read may be made anew, and one that is read is gone where it is not returned") {
  machine calls{team_of({.dp_size = 1})};
  const auto begun = calls.start(reading_numbers(wide(numbered(2, 1)).with(score, {1, 2})));
  const auto last = calls.reply(0, begun.call, payload{batch{}.with(tokens, {{7}, {8}})});
  REQUIRE(last);
  const batch made = rows_of(*last);
  CHECK(made.names() == names{"tokens", "score"});
  CHECK(made[tokens][1][0] == 8);
  CHECK(made[score][1] == 2);
}

TEST_CASE("a column that is to be read and is not there is a fault that names it, and sends nothing") {
  machine calls{team_of({.dp_size = 2})};
  call wanted = reading_numbers(wide(numbered(4)));
  wanted.reads = std::make_shared<const names>(names{"tokens", "reward"});
  const auto begun = calls.start(wanted);
  CHECK(begun.deliveries.empty());
  REQUIRE(begun.refused);
  CHECK(to_string(begun.refused->value.failure()) ==
        "s in work: no column 'reward' to select; its columns are number, tokens");
  CHECK(calls.in_flight() == 0);
}

TEST_CASE("no rows at all have no columns, which is no fault") {
  machine calls{team_of({.dp_size = 1})};
  call wanted = reading_numbers(batch{}.with_tags({}));
  wanted.fewer = twinkle::small::allow_empty;
  const auto begun = calls.start(wanted);
  REQUIRE_FALSE(begun.refused);
  CHECK(calls.reply(0, begun.call, begun.deliveries[0].input));
}

TEST_CASE("what a worker leaves unfinished goes on with all that it made, and the same columns go around") {
  machine calls{team_of({.dp_size = 2})};
  const auto begun = calls.start(reading_numbers(wide(numbered(4, 1))));
  const batch& first = input_of(begun, 0);
  CHECK_FALSE(calls.reply(0, begun.call, payload{first.with(score, {1, 2}).unfinished(sizes{1})}));
  CHECK_FALSE(calls.reply(1, begun.call, payload{input_of(begun, 1).with(score, {3, 4})}));
  const auto again = calls.take_again(-1);
  REQUIRE(again.size() == 1);
  const batch& left = rows_of(again[0].what.input);
  CHECK(left.names() == names{"number", "score"});
  CHECK(left[score][0] == 2);
  const auto last = calls.reply(again[0].what.worker, again[0].id, payload{left.with(score, {20})});
  REQUIRE(last);
  REQUIRE(last->value);
  const batch made = rows_of(*last);
  CHECK(made.names().size() == 3);
  CHECK(made[score][1] == 20);
  CHECK(has_its_tokens(made));
}

TEST_CASE("a missing column is told when the call starts, though its only worker is away") {
  machine calls{team_of({.dp_size = 1})};
  (void)calls.lose(0, "gone", true);
  call wanted = reading_numbers(wide(numbered(2)));
  wanted.retries = 1;
  wanted.reads = std::make_shared<const names>(names{"reward"});
  CHECK(calls.start(wanted).refused);
  CHECK(calls.regain(0).empty());
  CHECK(calls.take_again(-1).empty());
}

TEST_CASE("a batch whose rows were all dropped has the columns that went around") {
  machine calls{team_of({.dp_size = 1})};
  const auto begun = calls.start(reading_numbers(wide(numbered(2))));
  const auto last = calls.reply(0, begun.call, payload{input_of(begun, 0).drop(sizes{0, 1}, "bad")});
  REQUIRE(last);
  CHECK(rows_of(*last).names() == names{"number", "tokens"});
  CHECK(rows_of(*last).tombstone_count() == 2);
}

TEST_CASE("rows that go on with another worker, unfinished or since theirs failed, keep what went around") {
  machine calls{team_of({.dp_size = 2})};
  call wanted = reading_numbers(wide(numbered(4, 1)));
  wanted.retries = 1;
  const auto begun = calls.start(wanted);
  CHECK_FALSE(calls.reply(0, begun.call, payload{input_of(begun, 0).unfinished(sizes{1})}));
  CHECK_FALSE(calls.reply(1, begun.call, fault{"", "", std::nullopt, "broken"}));
  const auto again = calls.take_again(-1);
  REQUIRE(again.size() == 2);
  std::optional<outcome> last;
  for (const auto& each : again) {
    CHECK(rows_of(each.what.input).names() == names{"number"});
    last = calls.reply(each.what.worker, each.id, each.what.input);
  }
  REQUIRE(last);
  CHECK(numbers_of(rows_of(*last)) == numbers{1, 2, 3, 4});
  CHECK(has_its_tokens(rows_of(*last)));
}

TEST_CASE("whatever becomes of rows at their workers, each has the columns that went around of the row it comes from") {
  for_all([] {
    const auto team = team_of({.dp_size = *rc::gen::inRange<std::int64_t>(1, 4), .tp_size = *rc::gen::inRange<std::int64_t>(1, 3)});
    machine calls{team};
    call wanted = reading_numbers(wide(numbered(*rc::gen::inRange<std::size_t>(1, 20))));
    wanted.how = *rc::gen::elementOf(std::vector<twinkle::dispatch_rule>{
        twinkle::dispatch::slice_dp, twinkle::dispatch::slice, twinkle::dispatch::all, twinkle::balanced(number)});
    wanted.fewer = twinkle::small::pad;
    const auto begun = calls.start(wanted);
    RC_ASSERT(!begun.refused);
    std::optional<outcome> last;
    for (const auto& each : begun.deliveries) {
      const batch& given = rows_of(each.input);
      sizes parents;
      for (std::size_t row = 0; row < given.rows(); ++row)
        parents.insert(parents.end(), static_cast<std::size_t>(numbers_of(given)[row] % 3), row);
      batch made = given.expand(parents);
      if (*rc::gen::inRange(0, 3) == 0 && !made.empty())
        made = made.drop(sizes{made.rows() / 2}, "bad");
      sizes order(made.rows());
      for (std::size_t row = 0; row < order.size(); ++row)
        order[row] = order.size() - 1 - row;
      last = calls.reply(each.worker, begun.call, payload{*rc::gen::inRange(0, 2) == 0 ? made : made.take(order)});
    }
    RC_ASSERT(last.has_value());
    RC_ASSERT(last->value.has_value());
    if (!rows_of(*last).empty())
      RC_ASSERT(has_its_tokens(rows_of(*last)));
  });
}
