// SPDX-License-Identifier: Apache-2.0
#include "twinkle/workers/jsonl_rows.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "for_all.hpp"
#include "jsonl_files.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/flow/context.hpp"
#include "twinkle/flow/graph.hpp"
#include "twinkle/sim/simulate.hpp"
#include "twinkle/workers/columns.hpp"

namespace tk = twinkle;
using jsonl_test::lines;
using jsonl_test::numbers;
using jsonl_test::numbers_of;
using jsonl_test::written_file;
using tk::jsonl_loader;
using tk::jsonl_rows;
using content = jsonl_loader::content;
using bad_line = jsonl_loader::bad_line;

static_assert(tk::batch_endpoint<decltype(&jsonl_rows::read), jsonl_rows>);

namespace {

tk::batch places_in(const std::string& path) {
  return *jsonl_loader(path, {.rows = 100, .holds = content::places}).next_rows();
}

tk::batch identified(const tk::batch& rows) {
  std::vector<tk::row_tag> tags(rows.rows());
  for (std::size_t row = 0; row < tags.size(); ++row)
    tags[row].id.sequence = row;
  return rows.with_tags(std::move(tags));
}

std::string complaint(const std::function<void()>& what) {
  try {
    what();
  } catch (const tk::error& bad) {
    return bad.what();
  }
  return "nothing";
}

// What each rank read, and what came out.
struct seen {
  std::mutex guard = {};
  std::map<std::size_t, std::vector<numbers>> by_rank = {};
  std::vector<numbers> collected = {};
  std::vector<std::uint64_t> sequences = {};
};

struct watched_rows {
  watched_rows(const std::string& path, std::shared_ptr<seen> into) : rows(path), seen_(std::move(into)) {}
  tk::batch read(tk::context& ctx, const tk::batch& places) {
    tk::batch found = rows.read(ctx, places);
    const std::lock_guard lock(seen_->guard);
    seen_->by_rank[ctx.rank()].push_back(numbers_of(found));
    return found;
  }

  jsonl_rows rows;
  std::shared_ptr<seen> seen_;
};

struct sink {
  explicit sink(std::shared_ptr<seen> into) : seen_(std::move(into)) {}
  void take(tk::context&, const tk::batch& rows) {
    const std::lock_guard lock(seen_->guard);
    seen_->collected.push_back(numbers_of(rows));
    for (const tk::row_tag& tag : rows.tags())
      seen_->sequences.push_back(tag.id.sequence);
  }
  std::shared_ptr<seen> seen_;
};

std::shared_ptr<seen> run(const std::string& path, const jsonl_loader::options& how, const tk::mesh_sizes& sizes) {
  const auto found = std::make_shared<seen>();
  const auto mesh = tk::device_mesh::from_sizes(sizes);
  tk::graph g{"reading"};
  auto source = g.spawn<jsonl_loader>("loader", {{.name = "host", .ranks = 1}}, path, how);
  auto readers = g.spawn<watched_rows>(
      "rows", {{.name = "readers", .ranks = static_cast<std::int64_t>(mesh.world_size())}, mesh}, path, found);
  auto end = g.spawn<sink>("sink", {{.name = "host", .ranks = 1}}, found);
  source.emits(&jsonl_loader::next)
      .to(readers, &watched_rows::read, {.name = "read", .small = tk::small::allow_empty})
      .to(end, &sink::take, {.name = "take"});
  const tk::sim::outcome outcome = tk::sim::simulate(g);
  CHECK(outcome.ended);
  CHECK_MESSAGE(!outcome.report.why, (outcome.report.why ? tk::to_string(*outcome.report.why) : ""));
  return found;
}

}  // namespace

TEST_CASE("rows that are read by their places are those of a loader that holds them") {
  const written_file file(
      "\xef\xbb\xbf{\"n\": 0, \"t\": \"\xc3\xa9\"}\r\n\r\n{\"t\": \"\", \"n\": 1}\r\n\n{\"n\": 2, \"t\": \"x\"}");
  const tk::batch whole = *jsonl_loader(file.path()).next_rows();
  const tk::batch places = places_in(file.path());
  CHECK(places.names() == std::vector<std::string>{"place_line", "place_offset", "place_bytes", "place_digest"});
  const auto at = places[tk::columns::place_line];
  CHECK(numbers(at.begin(), at.end()) == numbers{1, 3, 5});
  jsonl_rows reader(file.path());
  const tk::batch found = reader.rows_at(places);
  CHECK(found.names() == whole.names());
  CHECK(numbers_of(found) == numbers_of(whole));
  CHECK(found[tk::text{"t"}][0] == "\xc3\xa9");
  CHECK(numbers_of(reader.rows_at(places.take(std::vector<std::size_t>{2, 0, 2}))) == numbers{2, 0, 2});
}

TEST_CASE("no places are no rows with the columns of all") {
  const written_file file(lines(3));
  jsonl_rows reader(file.path());
  const tk::batch none = reader.rows_at(places_in(file.path())[{0, 0}]);
  CHECK(none.rows() == 0);
  CHECK(none.type("n") == tk::type_of(jsonl_test::n));
}

TEST_CASE("identities and tombstones of the places are those of the rows") {
  const written_file file(lines(4));
  jsonl_rows reader(file.path());
  const tk::batch places = identified(places_in(file.path())).drop(std::vector<std::size_t>{1}, "late");
  const tk::batch found = reader.rows_at(places);
  CHECK(numbers_of(found) == numbers{0, 2, 3});
  CHECK(found.shares_tags(places));
  CHECK(found.tombstones() == places.tombstones());
}

TEST_CASE("only the lines of a slice are parsed: a bad one elsewhere does not matter") {
  const written_file file(lines(4) + "nonsense\n");
  jsonl_rows reader(file.path());
  CHECK(numbers_of(reader.rows_at(places_in(file.path())[{1, 4}])) == numbers{1, 2, 3});
  CHECK(complaint([&] { (void)reader.rows_at(places_in(file.path())[{3, 5}]); })
            .starts_with("data file '" + file.path() + "': line 5: "));
}

TEST_CASE("bad lines that may be skipped leave tombstones that name them, also the first of the file") {
  const written_file file("nonsense\n{\"n\": 0}\n{\"n\": null}\n{\"n\": 1}\n{\"n\": 0.5}\n");
  CHECK(complaint([&] { const jsonl_rows reader(file.path()); }).find("line 1: ") != std::string::npos);
  jsonl_rows reader(file.path(), {.bad_lines = bad_line::skip});
  const tk::batch found = reader.rows_at(identified(places_in(file.path())));
  CHECK(numbers_of(found) == numbers{0, 1});
  const auto lost = found.tombstones();
  REQUIRE(lost.size() == 3);
  CHECK(lost[0].tag.id.sequence == 0);
  CHECK(lost[2].tag.id.sequence == 4);
  CHECK(lost[2].reason.find("line 5: field 'n' is a number with a fraction") != std::string::npos);
}

TEST_CASE("a file of nothing that can be read is refused, and so is skipping where nothing is read") {
  const written_file file("nonsense\n");
  CHECK(complaint([&] { const jsonl_rows reader(file.path(), {.bad_lines = bad_line::skip}); })
            .starts_with("data file '" + file.path() + "' has no rows; the first bad line: line 1: "));
  const jsonl_loader::options how{.bad_lines = bad_line::skip, .holds = content::places};
  CHECK(complaint([&] { const jsonl_loader loader(file.path(), how); }).find("say so to jsonl_rows") !=
        std::string::npos);
  const written_file empty("\n");
  CHECK(complaint([&] { (void)places_in(empty.path()); }).find("has no rows") != std::string::npos);
}

TEST_CASE("a file that changed since the loader saw it is refused, whatever became of it") {
  const written_file file(lines(10));
  const tk::batch places = places_in(file.path());
  std::string other = lines(10);
  other[other.find('7')] = '5';
  file.write(other);
  jsonl_rows reader(file.path());
  CHECK(numbers_of(reader.rows_at(places[{0, 7}])) == numbers{0, 1, 2, 3, 4, 5, 6});
  CHECK(complaint([&] { (void)reader.rows_at(places); }) ==
        "data file '" + file.path() +
            "': line 8 is not what the loader saw there; let the file stay as it is, and give both the same one");
  std::filesystem::resize_file(file.path(), 20);
  CHECK(complaint([&] { (void)reader.rows_at(places); }).find("cut short") != std::string::npos);
  CHECK(complaint([&] { (void)jsonl_rows(file.path()).rows_at(places); }).find("it has 20") != std::string::npos);
  const tk::batch nowhere = places.with(tk::columns::place_bytes, numbers(10, -1));
  CHECK(complaint([&] { (void)reader.rows_at(nowhere); }).find("has no bytes") != std::string::npos);
}

TEST_CASE("each data rank reads its own slice, and its tensor and pipeline ranks the same") {
  const written_file file(lines(10));
  const auto found = run(file.path(), {.rows = 4, .holds = content::places}, {.dp_size = 3, .tp_size = 2});
  CHECK(found->collected == std::vector<numbers>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}});
  CHECK(found->by_rank[0] == std::vector<numbers>{{0, 1}, {4, 5}, {8}});
  CHECK(found->by_rank[2] == std::vector<numbers>{{2}, {6}, {9}});
  CHECK(found->by_rank[4] == std::vector<numbers>{{3}, {7}, {}});
  for (const std::size_t rank : {0, 2, 4})
    CHECK(found->by_rank[rank + 1] == found->by_rank[rank]);
}

TEST_CASE("whatever the mesh, what is read by slices is what one loader that holds its rows emits") {
  for_all([] {
    const auto rows = *rc::gen::inRange<std::size_t>(1, 12);
    const written_file file(lines(rows));
    jsonl_loader::options how{.rows = *rc::gen::inRange<std::size_t>(1, 9), .epochs = 2};
    how.mix_epochs = *rc::gen::arbitrary<bool>();
    how.seed = *rc::gen::element<std::optional<std::uint64_t>>(std::nullopt, 5);
    how.first = *rc::gen::inRange<std::uint64_t>(0, 2 * rows);
    tk::mesh_sizes sizes{.dp_size = *rc::gen::inRange<std::int64_t>(1, 4)};
    sizes.pp_size = *rc::gen::inRange<std::int64_t>(1, 3);
    jsonl_loader whole(file.path(), how);
    how.holds = content::places;
    const auto found = run(file.path(), how, sizes);
    RC_ASSERT(found->collected == jsonl_test::read(whole));
    // Rows keep the identities that they would have had without a stop.
    for (std::size_t row = 0; row < found->sequences.size(); ++row)
      RC_ASSERT(found->sequences[row] == how.first + row);
    RC_ASSERT(how.first + found->sequences.size() == 2 * rows);
  });
}
