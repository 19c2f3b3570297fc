// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/jsonl.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "for_all.hpp"
#include "twinkle/base/error.hpp"

using namespace std::string_literals;
using twinkle::batch;
using twinkle::column;
using twinkle::from_jsonl;
using twinkle::ragged;
using twinkle::text;
using twinkle::to_jsonl;

TEST_CASE("rows are written as lines, columns as fields") {
  const batch rows = batch{}
                         .with(text{"prompt"}, {"2+2=", "a\n\"b\"\\\x01"})
                         .with(column<std::int32_t>{"n"}, {1, -2})
                         .with(column<float>{"x"}, {0.1F, 2})
                         .with(column<double>{"point", {2}}, {1, 2.5, 1e300, 4})
                         .with(ragged<std::int64_t>{"ids"}, {{1, 2}, {}})
                         .with(column<std::uint8_t>{"ok"}, {1, 0});
  CHECK(to_jsonl(rows) ==
        "{\"prompt\": \"2+2=\", \"n\": 1, \"x\": 0.1, \"point\": [1.0, 2.5], \"ids\": [1, 2], \"ok\": true}\n"
        "{\"prompt\": \"a\\n\\\"b\\\"\\\\\\u0001\", \"n\": -2, \"x\": 2.0, \"point\": [1e+300, 4.0], \"ids\": [], "
        "\"ok\": false}\n");
  CHECK(to_jsonl(batch{}).empty());
}

TEST_CASE("a text is read line by line, whatever its line ends") {
  const batch rows = from_jsonl("\xef\xbb\xbf{\"a\": 1}\r\n\r\n{\"a\": 2}\n\n{\"a\": 3}");
  CHECK(rows.rows() == 3);
  CHECK(rows[column<std::int64_t>{"a"}][2] == 3);
  CHECK(from_jsonl("").empty());
  CHECK_THROWS_WITH_AS((void)from_jsonl("{\"a\": 1}\n\n{\"b\": 1}\n"),
                       "line 3: field 'a' is missing; line 1 has it", twinkle::error);
}

TEST_CASE("what was written is read again as the same values") {
  for_all([] {
    const auto size = *rc::gen::inRange<std::size_t>(1, 6);
    const auto some = [&](auto gen) { return *rc::gen::container<std::vector<decltype(*gen)>>(size, gen); };
    const auto fraction = rc::gen::suchThat(
        rc::gen::map(rc::gen::arbitrary<std::uint64_t>(), [](std::uint64_t bits) { return std::bit_cast<double>(bits); }),
        [](double number) { return std::isfinite(number); });
    // Any code point but surrogates, as utf-8.
    const auto letters = rc::gen::map(rc::gen::arbitrary<std::vector<std::uint16_t>>(), [](const auto& points) {
      std::string made;
      for (const std::uint16_t point : points)
        if (point < 0x80)
          made += static_cast<char>(point);
        else if (point < 0x800)
          (made += static_cast<char>(0xc0 | point >> 6)) += static_cast<char>(0x80 | (point & 0x3f));
      return made;
    });
    const auto texts = some(letters);
    const auto wholes = some(rc::gen::arbitrary<std::int64_t>());
    const auto fractions = some(fraction);
    const auto ids = some(rc::gen::arbitrary<std::vector<std::int64_t>>());
    const auto flags = some(rc::gen::inRange<std::uint8_t>(0, 2));
    const batch rows = batch{}
                           .with(text{"text"}, texts)
                           .with(column<std::int64_t>{"whole"}, wholes)
                           .with(column<double>{"fraction"}, fractions)
                           .with(ragged<std::int64_t>{"ids"}, ids)
                           .with(column<std::uint8_t>{"flag"}, flags);
    const std::string lines = to_jsonl(rows);
    const batch again = from_jsonl(lines);
    RC_ASSERT(again.rows() == size);
    RC_ASSERT(again.names() == rows.names());
    for (std::size_t row = 0; row < size; ++row) {
      RC_ASSERT(again[text{"text"}][row] == texts[row]);
      RC_ASSERT(again[column<std::int64_t>{"whole"}][row] == wholes[row]);
      RC_ASSERT(std::bit_cast<std::uint64_t>(again[column<double>{"fraction"}][row]) ==
                std::bit_cast<std::uint64_t>(fractions[row]));
      const auto read = again[ragged<std::int64_t>{"ids"}][row];
      RC_ASSERT(std::vector<std::int64_t>(read.begin(), read.end()) == ids[row]);
      RC_ASSERT(again[column<std::uint8_t>{"flag"}][row] == flags[row]);
    }
    RC_ASSERT(to_jsonl(again) == lines);
  });
}

TEST_CASE("an f32 that was written is the same f32 when it is read and narrowed") {
  for_all([] {
    const auto number = std::bit_cast<float>(*rc::gen::arbitrary<std::uint32_t>());
    RC_PRE(std::isfinite(number));
    const batch again = from_jsonl(to_jsonl(batch{}.with(column<float>{"x"}, {number})));
    RC_ASSERT(std::bit_cast<std::uint32_t>(static_cast<float>(again[column<double>{"x"}][0])) ==
              std::bit_cast<std::uint32_t>(number));
  });
}

TEST_CASE("what JSON cannot hold is refused with the column and the row") {
  const float bad = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH_AS(
      (void)to_jsonl(batch{}.with(column<float>{"loss"}, {1, bad})),
      "cannot write JSONL: column 'loss' has in row 1 nan, which JSON cannot hold; drop the row or store a finite number",
      twinkle::error);
  CHECK_THROWS_AS((void)to_jsonl(batch{}.with(ragged<double>{"x"}, {{HUGE_VAL}})), twinkle::error);
  CHECK_THROWS_WITH_AS(
      (void)to_jsonl(batch{}.with(text{"completion"}, {"\xff"s})),
      "cannot write JSONL: column 'completion' has in row 0 text that is not utf-8; keep bytes in a ragged u8 column",
      twinkle::error);
  CHECK_THROWS_WITH_AS((void)to_jsonl(batch{}.with(column<std::uint8_t>{"ok"}, {7})),
                       "cannot write JSONL: column 'ok' has in row 0 7, but a u8 is written as true or false; store "
                       "whole numbers as i32 or i64",
                       twinkle::error);
  CHECK_THROWS_AS((void)to_jsonl(batch{}.with(column<float>{"\xff"}, {1})), twinkle::error);
  CHECK_THROWS_AS((void)to_jsonl(batch{}.with(column<float>{"x"}, {1}).select({})), twinkle::error);
}
