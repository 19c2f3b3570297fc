// SPDX-License-Identifier: Apache-2.0
#include "twinkle/workers/final_answer.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <string>
#include <vector>

#include "for_all.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/flow/endpoint.hpp"
#include "twinkle/workers/columns.hpp"

using twinkle::batch;
using twinkle::final_answer;
using texts = std::vector<std::string>;
namespace columns = twinkle::columns;

static_assert(twinkle::batch_endpoint<decltype(&final_answer::score), final_answer>);

namespace {

std::string number_in(std::string_view text) { return final_answer::in(text).number.value_or("none"); }

texts column_of(const batch& rows, const twinkle::text& key) {
  texts found;
  for (std::size_t row = 0; row < rows.rows(); ++row)
    found.emplace_back(rows[key][row]);
  return found;
}

std::vector<float> rewards_of(const batch& rows) {
  const auto values = rows[columns::reward];
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("the answer is the number behind the last marker") {
  CHECK(number_in("2 + 2 = 4\n#### 4") == "4");
  CHECK(number_in("#### 1\nno, wait\n#### 2") == "2");
  CHECK(number_in("####3") == "3");
  CHECK(number_in("####\n 3  \n") == "3");
  CHECK(number_in("#### 18 eggs") == "18");
  CHECK(number_in("so #### 18.") == "18");
}

TEST_CASE("commas, signs, decimals, dollars and trailing spaces do not change a number") {
  CHECK(number_in("#### 1,450,000") == "1450000");
  CHECK(number_in("#### -1,234.50  ") == "-1234.5");
  CHECK(number_in("#### $1,234") == "1234");
  CHECK(number_in("#### -$5") == "-5");
  CHECK(number_in("#### $-5") == "-5");
  CHECK(number_in("#### +7$") == "7");
  CHECK(number_in("#### \u22125") == "-5");
  CHECK(number_in("#### 50%") == "50");
  CHECK(number_in("#### 007.00") == "7");
  CHECK(number_in("#### .50") == "0.5");
  CHECK(number_in("#### -0.0") == "0");
  CHECK(number_in("#### 123456789012345678901234567890.1") == "123456789012345678901234567890.1");
}

TEST_CASE("what is no number is none, and a marker that is missing is told from that") {
  for (const std::string text :
       {"####", "#### ", "#### eggs", "#### 5/8", "#### 1e5", "#### 1,23", "#### 1234,567", "#### ,123", "#### 1.2.3",
        "#### 1,234,56", "#### --5", "#### -$-5", "#### 12:30", "#### $", "#### ."}) {
    CAPTURE(text);
    CHECK(final_answer::in(text) == final_answer::found{true, std::nullopt});
  }
  CHECK(final_answer::in("the answer is 5") == final_answer::found{});
  CHECK(final_answer::in("") == final_answer::found{});
  CHECK(final_answer::in("### 5") == final_answer::found{});
}

TEST_CASE("every whole number is found as it was written, with commas or without") {
  for_all([] {
    const auto number = *rc::gen::arbitrary<std::int64_t>();
    const std::string plain = std::to_string(number);
    std::string grouped = plain;
    for (std::size_t at = grouped.size(); at > 3 + (number < 0 ? 1U : 0U);)
      grouped.insert(at -= 3, ",");
    RC_ASSERT(number_in("#### " + plain) == plain);
    RC_ASSERT(number_in("#### " + grouped + "\n") == plain);
  });
}

TEST_CASE("no text makes the judge fall over") {
  for_all([] {
    const auto letter = rc::gen::element('#', '-', '$', '.', ',', '1', '0', ' ', '\xe2');
    const auto text = *rc::gen::container<std::string>(letter);
    const auto found = final_answer::in("####" + text);
    RC_ASSERT(found.marked);
    if (found.number)
      RC_ASSERT(number_in("#### " + *found.number) == *found.number);
  });
}

TEST_CASE("a completion is right where its number is that of the reference, behind a marker or alone") {
  const batch rollouts = batch{}
                             .with(columns::completion, {"#### 1,000", "#### 4", "it is 5", "#### x", "#### 2.0"})
                             .with(columns::answer, {"so\n#### 1000", "5", "5", "5", " 2"});
  const batch judged = final_answer{}.scored(rollouts);
  CHECK(rewards_of(judged) == std::vector<float>{1, 0, 0, 0, 1});
  CHECK(column_of(judged, columns::final_answer) == texts{"1000", "4", "", "", "2"});
  CHECK(column_of(judged, columns::outcome) == texts{"right", "wrong", "no marker", "no number", "right"});
}

TEST_CASE("without a reference every number is right") {
  const final_answer judge({.text = "solution", .reference = std::nullopt});
  const batch judged = judge.scored(batch{}.with(twinkle::text{"solution"}, {"#### 3", "3"}));
  CHECK(rewards_of(judged) == std::vector<float>{1, 0});
  CHECK(column_of(judged, columns::outcome) == texts{"right", "no marker"});
}

TEST_CASE("a row whose reference has no number is dropped by name, not judged") {
  const batch rollouts =
      batch{}.with(columns::completion, {"#### 1", "#### 2"}).with(columns::answer, {"#### one", "2"});
  CHECK_THROWS_WITH_AS((void)final_answer{}.scored(rollouts),
                       "column 'answer' has no number to judge by in row 0 of the batch; give a number there, alone or "
                       "behind ####",
                       twinkle::error);
  std::vector<twinkle::row_tag> tags(2);
  tags[1].id.sequence = 1;
  const batch judged = final_answer{}.scored(rollouts.with_tags(tags));
  CHECK(rewards_of(judged) == std::vector<float>{1});
  CHECK(judged.tombstones() ==
        std::vector<twinkle::tombstone>{{tags[0], "column 'answer' has no number to judge by"}});
}

TEST_CASE("the columns to judge are refused by name where they are missing, and no rows are no answers") {
  CHECK_THROWS_AS((void)final_answer{}.scored(batch{}.with(columns::completion, {"#### 1"})), twinkle::error);
  const batch none = batch{}.with(columns::completion, {}).with(columns::answer, {});
  CHECK(final_answer{}.scored(none)[columns::outcome].rows() == 0);
}
