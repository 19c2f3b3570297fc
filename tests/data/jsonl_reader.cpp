// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/jsonl_reader.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "twinkle/base/error.hpp"
#include "twinkle/base/random.hpp"

using namespace std::string_literals;
using twinkle::batch;
using twinkle::column;
using twinkle::jsonl_reader;
using twinkle::ragged;
using twinkle::text;

namespace {

batch read(const std::vector<std::string>& lines) {
  jsonl_reader reader;
  for (std::size_t at = 0; at < lines.size(); ++at)
    reader.add(lines[at], at + 1);
  return reader.read();
}

// What is said of line 17.
std::string complaint(std::string_view line) {
  jsonl_reader reader;
  try {
    reader.add(line, 17);
  } catch (const twinkle::error& bad) {
    return bad.what();
  }
  return "nothing";
}

// What is said of the last of several lines.
std::string complaint_of_last(const std::vector<std::string>& lines) {
  try {
    (void)read(lines);
  } catch (const twinkle::error& bad) {
    return bad.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("each kind of value becomes its kind of column") {
  const batch rows = read({R"({"prompt": "2+2=", "answer": 4, "weight": 0.5, "ids": [1, -2], "logs": [0.25], "ok": true})",
                           R"({"prompt": "é", "answer": -5, "weight": 1e3, "ids": [], "logs": [], "ok": false})"});
  REQUIRE(rows.rows() == 2);
  CHECK(rows.names() == std::vector<std::string>{"prompt", "answer", "weight", "ids", "logs", "ok"});
  CHECK(rows[text{"prompt"}][1] == "é");
  CHECK(rows[column<std::int64_t>{"answer"}][1] == -5);
  CHECK(rows[column<double>{"weight"}][1] == 1000);
  CHECK(rows[ragged<std::int64_t>{"ids"}][0][1] == -2);
  CHECK(rows[ragged<std::int64_t>{"ids"}][1].empty());
  CHECK(rows[ragged<double>{"logs"}][0][0] == 0.25);
  CHECK(rows[column<std::uint8_t>{"ok"}][0] == 1);
  CHECK(rows[column<std::uint8_t>{"ok"}][1] == 0);
  CHECK_FALSE(rows.identified());
}

TEST_CASE("fields may come in any order") {
  const batch rows = read({R"({"a": 1, "b": "x"})", R"({"b": "y", "a": 2})"});
  CHECK(rows.names() == std::vector<std::string>{"a", "b"});
  CHECK(rows[column<std::int64_t>{"a"}][1] == 2);
  CHECK(rows[text{"b"}][1] == "y");
}

TEST_CASE("whole numbers become fractions where another line has one, before it or after it") {
  const batch rows = read({R"({"a": 1, "b": 0.5, "c": [1, 2]})", R"({"a": 2.5, "b": 3, "c": [0.5, 3]})",
                           R"({"a": -3, "b": 4, "c": [4]})"});
  CHECK(rows[column<double>{"a"}][0] == 1);
  CHECK(rows[column<double>{"a"}][2] == -3);
  CHECK(rows[column<double>{"b"}][1] == 3);
  CHECK(rows[ragged<double>{"c"}][0][1] == 2);
  CHECK(rows[ragged<double>{"c"}][1][1] == 3);
  CHECK(rows[ragged<double>{"c"}][2][0] == 4);
}

TEST_CASE("fractions are read to the last bit") {
  const batch rows = read({R"({"a": 0.1})", R"({"a": 1.7976931348623157e308})", R"({"a": 5e-324})",
                           R"({"a": 0.30000000000000004})", R"({"a": 9007199254740993.0})"});
  CHECK(rows[column<double>{"a"}][0] == 0.1);
  CHECK(rows[column<double>{"a"}][1] == 1.7976931348623157e308);
  CHECK(rows[column<double>{"a"}][2] == 5e-324);
  CHECK(rows[column<double>{"a"}][3] == 0.30000000000000004);
  CHECK(rows[column<double>{"a"}][4] == 9007199254740992.0);
}

TEST_CASE("the smallest and the greatest whole numbers are read") {
  const batch rows = read({R"({"a": -9223372036854775808})", R"({"a": 9223372036854775807})"});
  CHECK(rows[column<std::int64_t>{"a"}][0] == INT64_MIN);
  CHECK(rows[column<std::int64_t>{"a"}][1] == INT64_MAX);
}

TEST_CASE("escapes are read as the letters that they mean") {
  const batch rows = read({R"({"a": "\"\\\/\b\f\n\r\t\u00e9\ud83c\udf1f\u0000."})"});
  CHECK(rows[text{"a"}][0] == "\"\\/\b\f\n\r\t\xc3\xa9\xf0\x9f\x8c\x9f\0."s);
}

TEST_CASE("a byte order mark, carriage returns and blank lines are no part of the rows") {
  jsonl_reader reader;
  CHECK(reader.add("\xef\xbb\xbf{\"a\": 1}\r", 1));
  CHECK_FALSE(reader.add("", 2));
  CHECK_FALSE(reader.add(" \t\r", 3));
  CHECK(reader.add("  {\"a\": 2}  ", 4));
  CHECK(reader.rows() == 2);
  CHECK(reader.read()[column<std::int64_t>{"a"}][1] == 2);
  CHECK_THROWS_AS(reader.add("\xef\xbb\xbf{\"a\": 1}", 5), twinkle::error);
}

TEST_CASE("a line of other fields is refused with the field and both lines") {
  CHECK(complaint_of_last({R"({"a": 1, "b": 2})", R"({"a": 1})"}) == "line 2: field 'b' is missing; line 1 has it");
  CHECK(complaint_of_last({"", R"({"a": 1})", R"({"a": 1, "c": 2})"}) == "line 3: field 'c' is new; line 2 has no such field");
}

TEST_CASE("a line of another kind is refused with the field and both kinds") {
  CHECK(complaint_of_last({R"({"a": 1})", R"({"a": "1"})"}) == "line 2: field 'a' is text, but a whole number in line 1");
  CHECK(complaint_of_last({R"({"a": [1]})", R"({"a": 1})"}) ==
        "line 2: field 'a' is a whole number, but an array of whole numbers in line 1");
  CHECK(complaint_of_last({R"({"a": true})", R"({"a": 1})"}) ==
        "line 2: field 'a' is a whole number, but true or false in line 1");
  CHECK(complaint_of_last({R"({"a": 0.5})", R"({"a": [0.5]})"}) ==
        "line 2: field 'a' is an array of numbers with fractions, but a number with a fraction in line 1");
}

TEST_CASE("what is no flat object of such values is refused with the line and the field") {
  CHECK(complaint(R"({"a": null})") ==
        "line 17: field 'a' holds null; every line must have a value there, so leave the field out everywhere or fill "
        "it in");
  CHECK(complaint(R"({"a": {"b": 1}})") ==
        "line 17: field 'a' holds an object; a field holds text, a number, true or false, or an array of numbers");
  CHECK(complaint(R"({"a": ["b"]})") ==
        "line 17: field 'a' holds an array of text; only arrays of numbers are read");
  CHECK(complaint(R"({"a": [[1]]})") ==
        "line 17: field 'a' holds an array of arrays; only arrays of numbers are read");
  CHECK(complaint(R"({"a": [true]})") ==
        "line 17: field 'a' holds an array of true and false; only arrays of numbers are read");
  CHECK(complaint(R"({"a": [null]})").starts_with("line 17: field 'a' holds null"));
  CHECK(complaint(R"({"a": [{}]})").starts_with("line 17: field 'a' holds an object"));
  CHECK(complaint(R"({"a": 1, "a": 1})") == "line 17: field 'a' is there twice");
  CHECK(complaint("{}") == "line 17: the object has no fields");
  CHECK(complaint(R"({"": 1})") == "line 17: a field has no name");
  for (const std::string_view other : {"[1]", "1", "1.5", "18446744073709551615", "true", "null", "\"text\"", "[]"})
    CHECK(complaint(other) == R"(line 17: not an object such as {"prompt": "2+2=", "answer": "4"})");
}

TEST_CASE("a line that is no JSON is refused with the byte where it ends to be") {
  CHECK(complaint(R"({"a": 1)") == "line 17: incomplete JSON at byte 8");
  CHECK(complaint(R"({"a": 1} {"a": 2})") ==
        "line 17: something follows the object at byte 10; a line holds one object");
  for (const std::string_view other : {"{", "}", "{]", R"({"a")", R"({"a":})", R"({"a": 1,})", R"({a: 1})", R"({"a": 01})",
                                       R"({"a": NaN})", R"({"a": Infinity})", R"({"a": +1})", R"({"a": .5})",
                                       R"({"a": 'x'})", R"({"a": "x})", R"({"a": [1})", R"({"a": [1,]})",
                                       R"(// {"a": 1})", "{\"a\": \"\x01\"}", R"({"a": "\x"})"})
    CHECK(complaint(other).starts_with("line 17: "));
  CHECK(complaint("{\"a\": 1}\0"s).starts_with("line 17: "));
}

TEST_CASE("text that is not utf-8 is refused") {
  CHECK(complaint("{\"a\": \"\xff\"}").starts_with("line 17: "));
  CHECK(complaint("{\"a\": \"\xc3\"}").starts_with("line 17: "));
  CHECK(complaint("{\"\xff\": 1}").starts_with("line 17: "));
  CHECK(complaint("{\"a\": \"\xed\xa0\x80\"}").starts_with("line 17: "));
  CHECK(complaint(R"({"a": "\ud800"})").starts_with("line 17: "));
  CHECK(complaint(R"({"a": "\udc00"})").starts_with("line 17: "));
}

TEST_CASE("numbers that no column can hold are refused, not rounded") {
  CHECK(complaint(R"({"a": 9223372036854775808})") ==
        "line 17: field 'a' holds the number 9223372036854775808, which fits neither an i64 nor an f64; write it as "
        "text");
  for (const std::string_view number : {"-9223372036854775809", "123456789012345678901234567890", "1e400", "-1e400",
                                        "1e-400", "1e99999999999999999999"})
    CHECK(complaint("{\"a\": " + std::string(number) + "}").starts_with("line 17: "));
  CHECK(complaint("{\"a\": [1" + std::string(1000, '0') + "]}").size() < 200);
  CHECK(complaint_of_last({R"({"a": 9007199254740993})", R"({"a": 0.5})"}) ==
        "line 2: the whole number 9007199254740993 stands beside numbers with a fraction, but an f64 cannot hold it "
        "exactly; write it as text");
  CHECK(complaint_of_last({R"({"a": 0.5})", R"({"a": -9007199254740993})"}).starts_with("line 2: "));
  CHECK(complaint(R"({"a": [9007199254740993, 0.5]})").starts_with("line 17: "));
  CHECK(complaint(R"({"a": [0.5, 9007199254740993]})").starts_with("line 17: "));
}

TEST_CASE("depth, and the number and length of names, are limited") {
  CHECK(complaint(std::string(100'000, '[')).starts_with("line 17: "));
  CHECK(complaint("{\"a\": " + std::string(100'000, '[')).starts_with("line 17: "));
  CHECK(complaint("{\"a\":" + [] {
          std::string deep;
          for (int level = 0; level < 1000; ++level)
            deep += "{\"a\":";
          return deep;
        }()).starts_with("line 17: "));
  CHECK(complaint("{\"" + std::string(jsonl_reader::name_bytes_max + 1, 'a') + "\": 1}").starts_with("line 17: "));
  std::string many = "{";
  for (std::size_t at = 0; at <= jsonl_reader::fields_max; ++at)
    many += (at == 0 ? "\"" : ", \"") + std::to_string(at) + "\": 1";
  CHECK(complaint(many + "}").starts_with("line 17: "));
}

TEST_CASE("a refused line leaves the reader as it was") {
  jsonl_reader reader;
  CHECK_THROWS_AS(reader.add(R"({"z": null})", 1), twinkle::error);
  reader.add(R"({"a": 9007199254740993, "b": 1})", 2);
  CHECK_THROWS_AS(reader.add(R"({"a": 0.5, "b": 0.5})", 3), twinkle::error);
  CHECK_THROWS_AS(reader.add(R"({"b": 0.5, "a": "x"})", 4), twinkle::error);
  reader.add(R"({"a": 3, "b": 4})", 5);
  const batch rows = reader.read();
  CHECK(rows.rows() == 2);
  CHECK(rows[column<std::int64_t>{"a"}][0] == 9007199254740993);
  CHECK(rows[column<std::int64_t>{"b"}][1] == 4);
}

TEST_CASE("no line breaks the reader, whatever is in it") {
  const std::string good = R"({"text": "a\u00e9\n", "n": -12, "x": 1.5e3, "ids": [1, 2.5], "ok": true})";
  const std::string bytes = "{}[]\",:\\eE+-.0129tfnu\xff\x80\xc3 \x01\0"s;
  twinkle::generator random{1};
  std::size_t read = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string line = good;
    for (std::uint64_t change = random.below(4); change-- > 0;) {
      const std::size_t at = random.below(line.size());
      switch (random.below(3)) {
        case 0: line[at] = bytes[random.below(bytes.size())]; break;
        case 1: line.erase(at, 1 + random.below(5)); break;
        default: line.insert(at, 1, bytes[random.below(bytes.size())]); break;
      }
    }
    jsonl_reader reader;
    try {
      reader.add(line, 1);
      ++read;
      CHECK(reader.read().rows() == 1);
    } catch (const twinkle::error& bad) {
      CHECK(std::string_view(bad.what()).starts_with("line 1: "));
    }
  }
  CHECK(read > 1000);
}

TEST_CASE("a reader that refuses fractions keeps the types of the first line") {
  jsonl_reader reader(jsonl_reader::fractions::refuse);
  reader.add(R"({"x": 1, "y": 0.5, "z": [1]})", 1);
  reader.add(R"({"x": 2, "y": 1, "z": []})", 2);
  CHECK_THROWS_WITH_AS(reader.add(R"({"x": 0.5, "y": 1, "z": [1]})", 7),
                       "line 7: field 'x' is a number with a fraction, but a whole number in line 1; lines are read "
                       "apart here, so let that one have a fraction (1.0)",
                       twinkle::error);
  CHECK_THROWS_AS(reader.add(R"({"x": 1, "y": 1, "z": [0.5]})", 8), twinkle::error);
  CHECK(reader.rows() == 2);
  CHECK(reader.read()[column<std::int64_t>{"x"}][1] == 2);
  CHECK(reader.read()[column<double>{"y"}][1] == 1);
}
