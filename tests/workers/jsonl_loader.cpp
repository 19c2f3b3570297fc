// SPDX-License-Identifier: Apache-2.0
#include "twinkle/workers/jsonl_loader.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "jsonl_files.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/flow/endpoint.hpp"

using twinkle::batch;
using twinkle::column;
using twinkle::emission;
using twinkle::jsonl_loader;
using last_batch = jsonl_loader::last_batch;
using bad_line = jsonl_loader::bad_line;
using content = jsonl_loader::content;
using jsonl_test::lines;
using jsonl_test::numbers;
using jsonl_test::read;
using jsonl_test::written_file;

static_assert(twinkle::source_endpoint<decltype(&jsonl_loader::next), jsonl_loader>);

namespace {

std::vector<numbers> batches_of(std::size_t rows, const jsonl_loader::options& how, std::size_t batches_max = 100) {
  const written_file file(lines(rows));
  jsonl_loader loader(file.path(), how);
  return read(loader, batches_max);
}

std::string complaint(const std::string& path, const jsonl_loader::options& how = {}) {
  try {
    const jsonl_loader loader(path, how);
  } catch (const twinkle::error& bad) {
    return bad.what();
  }
  return "nothing";
}

// What goes to std::clog while it lives.
class log_seen {
 public:
  log_seen() : before_(std::clog.rdbuf(text_.rdbuf())) {}
  ~log_seen() { std::clog.rdbuf(before_); }
  log_seen(const log_seen&) = delete;
  log_seen& operator=(const log_seen&) = delete;

  [[nodiscard]] std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* before_;
};

}  // namespace

TEST_CASE("rows come in batches in the order of the file, the last one smaller") {
  CHECK(batches_of(10, {.rows = 4}) == std::vector<numbers>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}});
  CHECK(batches_of(8, {.rows = 4}) == std::vector<numbers>{{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK(batches_of(3, {}) == std::vector<numbers>{{0, 1, 2}});
}

TEST_CASE("a loader that has ended stays so") {
  const written_file file(lines(2));
  jsonl_loader loader(file.path());
  CHECK(loader.next_rows()->rows() == 2);
  CHECK_FALSE(loader.next_rows().has_value());
  CHECK_FALSE(loader.next_rows().has_value());
}

TEST_CASE("case K-L1: epochs follow each other, and no batch holds rows of two") {
  CHECK(batches_of(5, {.rows = 3, .epochs = 2}) == std::vector<numbers>{{0, 1, 2}, {3, 4}, {0, 1, 2}, {3, 4}});
  CHECK(batches_of(5, {.rows = 3, .last = last_batch::drop, .epochs = 2}) ==
        std::vector<numbers>{{0, 1, 2}, {0, 1, 2}});
}

TEST_CASE("a loader without end goes on with epoch after epoch") {
  CHECK(batches_of(2, {.rows = 2, .epochs = 0}, 50) == std::vector<numbers>(50, numbers{0, 1}));
}

TEST_CASE("with a seed each epoch has every row once, in an order of its own that the seed repeats") {
  const jsonl_loader::options how{.rows = 20, .epochs = 2, .seed = 7};
  const std::vector<numbers> epochs = batches_of(20, how);
  REQUIRE(epochs.size() == 2);
  CHECK(epochs[0] != epochs[1]);
  for (numbers epoch : epochs) {
    CHECK_FALSE(std::is_sorted(epoch.begin(), epoch.end()));
    std::sort(epoch.begin(), epoch.end());
    CHECK(epoch == batches_of(20, {.rows = 20})[0]);
  }
  CHECK(batches_of(20, how) == epochs);
  CHECK(batches_of(20, {.rows = 20, .epochs = 2, .seed = 8}) != epochs);
}

TEST_CASE("the order that a seed gives does not depend on the size of batches") {
  std::vector<numbers> whole = batches_of(10, {.rows = 10, .seed = 7});
  numbers joined;
  for (const numbers& each : batches_of(10, {.rows = 3, .seed = 7}))
    joined.insert(joined.end(), each.begin(), each.end());
  CHECK(joined == whole[0]);
}

TEST_CASE("every field of a line is a column, and rows have no identities yet") {
  const written_file file("{\"prompt\": \"s21=\", \"answer\": \"12\"}\n{\"answer\": \"34\", \"prompt\": \"s43=\"}\n");
  jsonl_loader loader(file.path(), {.seed = 1});
  const batch rows = *loader.next_rows();
  CHECK(rows.names() == std::vector<std::string>{"prompt", "answer"});
  CHECK_FALSE(rows.identified());
  const std::size_t first = rows[twinkle::text{"prompt"}][0] == "s21=" ? 0 : 1;
  CHECK(rows[twinkle::text{"answer"}][first] == "12");
  CHECK(rows[twinkle::text{"answer"}][1 - first] == "34");
}

TEST_CASE("a column has one type in all batches, also where only the last line has a fraction") {
  const written_file file("{\"x\": 1}\n{\"x\": 2}\n{\"x\": 0.5}\n");
  jsonl_loader loader(file.path(), {.rows = 1});
  CHECK((*loader.next_rows())[column<double>{"x"}][0] == 1);
}

TEST_CASE("carriage returns, a byte order mark, blank lines and a last line without end are fine") {
  const written_file file("\xef\xbb\xbf{\"n\": 0}\r\n\r\n{\"n\": 1}\r\n\n  \n{\"n\": 2}");
  jsonl_loader loader(file.path());
  CHECK(read(loader) == std::vector<numbers>{{0, 1, 2}});
}

TEST_CASE("case K-L2: a file of fewer rows than a batch whose last batch is dropped is refused") {
  const written_file file(lines(3));
  CHECK(complaint(file.path(), {.rows = 4, .last = last_batch::drop}) ==
        "data file '" + file.path() +
            "': the dataset has 3 rows, but a batch has 4 and the last one is dropped if it is smaller, so there would "
            "be none; keep the last batch or ask for fewer rows");
  CHECK(complaint(file.path(), {.rows = 4, .last = last_batch::drop, .holds = content::places})
            .find("the dataset has 3 rows, but a batch has 4") != std::string::npos);
  CHECK(complaint(file.path(), {.rows = 3, .last = last_batch::drop}) == "nothing");
  CHECK(complaint(file.path(), {.rows = 4}) == "nothing");
}

TEST_CASE("case K-L2: a file that has too few rows only without its bad lines is refused with what is left") {
  const written_file file(lines(3) + "nonsense\n");
  const log_seen log;
  CHECK(complaint(file.path(), {.rows = 4, .last = last_batch::drop, .bad_lines = bad_line::skip})
            .find("the dataset has 3 rows, but a batch has 4") != std::string::npos);
  CHECK(complaint(file.path(), {.rows = 3, .last = last_batch::drop, .bad_lines = bad_line::skip}) == "nothing");
}

TEST_CASE("batches of no rows are refused") {
  const written_file file(lines(3));
  CHECK(complaint(file.path(), {.rows = 0}) ==
        "data file '" + file.path() + "': a batch of 0 rows is asked for; it must be 1 or more");
}

TEST_CASE("a file that is not there, a directory and an empty file are refused with what to do") {
  CHECK(complaint("/no/such/file.jsonl") ==
        "data file '/no/such/file.jsonl' does not exist; relative paths start at " +
            std::filesystem::current_path().string());
  CHECK(complaint("/tmp") == "data file '/tmp' is a directory; give the path of a JSONL file");
  CHECK(complaint("/dev/zero") == "data file '/dev/zero' is not a regular file; give the path of a JSONL file");
  for (const std::string text : {"", "\n", " \r\n\n", "\xef\xbb\xbf"}) {
    const written_file file(text);
    CHECK(complaint(file.path()) == "data file '" + file.path() + "' has no rows; it needs one JSON object a line");
  }
}

TEST_CASE("a bad line is refused with the file and its number") {
  const written_file file("{\"n\": 0}\n\n{\"n\": \"one\"}\n");
  CHECK(complaint(file.path()) ==
        "data file '" + file.path() + "': line 3: field 'n' is text, but a whole number in line 1");
}

TEST_CASE("bad lines that may be skipped are counted in one line of the log") {
  const written_file file("{\"n\": null}\n{\"n\": 0}\nnonsense\n{\"n\": 1}\n{\"n\": 0.5}\n{\"m\": 2}\n");
  const log_seen log;
  jsonl_loader loader(file.path(), {.bad_lines = bad_line::skip});
  CHECK(loader.next_rows()->rows() == 3);
  CHECK(log.text() ==
        "data file '" + file.path() +
            "': skipped 3 bad lines of 6, the first: line 1: field 'n' holds null; every line must have a value there, "
            "so leave the field out everywhere or fill it in\n");
}

TEST_CASE("a file without bad lines says nothing, and one of bad lines only is refused") {
  const log_seen log;
  CHECK(batches_of(2, {.bad_lines = bad_line::skip}).size() == 1);
  CHECK(log.text().empty());
  const written_file bad("nonsense\n");
  CHECK(complaint(bad.path(), {.bad_lines = bad_line::skip})
            .starts_with("data file '" + bad.path() + "' has no rows; 1 bad line, the first: line 1: "));
}

TEST_CASE("a loader says what it will emit before it runs") {
  const written_file file(lines(10) + "\r\n\n");
  const auto least = [&](const jsonl_loader::options& how) { return jsonl_loader::emits(file.path(), how).least; };
  CHECK(least({.rows = 4}) == 2);
  CHECK(least({.rows = 5}) == 5);
  CHECK(least({.rows = 32}) == 10);
  CHECK(least({.rows = 4, .last = last_batch::drop}) == 4);
  CHECK(least({.rows = 4, .bad_lines = bad_line::skip}) == 1);
  CHECK(least({.rows = 0}) == 1);

  const emission said = jsonl_loader::emits(file.path(), {.rows = 4, .epochs = 0});
  CHECK(said.rows == 4);
  CHECK(said.endless);
  CHECK_FALSE(jsonl_loader::emits(file.path()).endless);
  CHECK(jsonl_loader::emits(file.path()).rows == 32);
  CHECK(jsonl_loader::emits("/no/such/file.jsonl").least == 1);
  CHECK(jsonl_loader::emits("/tmp").least == 1);
}

TEST_CASE("a loader that goes on from a position says so, and tells the smallest batch that is left") {
  const written_file file(lines(10));
  const auto said = [&](const jsonl_loader::options& how) { return jsonl_loader::emits(file.path(), how); };
  CHECK(said({.rows = 4}).first == 0);
  CHECK(said({.rows = 4, .epochs = 2, .first = 14}).first == 14);
  CHECK(said({.rows = 5, .first = 5}).least == 5);
  CHECK(said({.rows = 5, .first = 6}).least == 4);
  CHECK(said({.rows = 5, .last = last_batch::drop, .first = 6}).least == 4);
  CHECK(said({.rows = 4, .epochs = 2, .mix_epochs = true}).least == 4);
  CHECK(said({.rows = 4, .epochs = 0, .mix_epochs = true, .first = 7}).least == 1);
  CHECK(said({.rows = 4, .first = 999}).least == 1);
}

TEST_CASE("a large file is not read only to be counted") {
  const written_file file(lines(10));
  CHECK(jsonl_loader::emits(file.path(), {.rows = 32}).least == 10);
  std::filesystem::resize_file(file.path(), (64 << 20) + 1);
  CHECK(jsonl_loader::emits(file.path(), {.rows = 32}).least == 1);
}
