// SPDX-License-Identifier: Apache-2.0
// A loader that goes on where another stopped.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <vector>

#include "for_all.hpp"
#include "jsonl_files.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/workers/columns.hpp"

using jsonl_test::lines;
using jsonl_test::numbers;
using jsonl_test::read;
using jsonl_test::written_file;
using twinkle::jsonl_loader;
using twinkle::loader_state;
using last_batch = jsonl_loader::last_batch;
using content = jsonl_loader::content;
using options = jsonl_loader::options;

namespace {

std::string complaint(const std::string& path, const options& how) {
  try {
    const jsonl_loader loader(path, how);
  } catch (const twinkle::error& bad) {
    return bad.what();
  }
  return "nothing";
}

// The state behind the first few rows of `path`.
loader_state state_behind(const std::string& path, const options& how, std::uint64_t emitted) {
  jsonl_loader loader(path, how);
  loader.resume_from(emitted);
  return loader.state();
}

struct place {
  std::size_t rows = 0;
  options how = {};
};

place any_place() {
  place made;
  made.rows = *rc::gen::inRange<std::size_t>(1, 14);
  made.how.rows = *rc::gen::inRange<std::size_t>(1, 16);
  made.how.last = *rc::gen::element(last_batch::keep, last_batch::drop);
  made.how.epochs = *rc::gen::inRange<std::size_t>(1, 4);
  made.how.mix_epochs = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>())
    made.how.seed = *rc::gen::arbitrary<std::uint64_t>();
  const std::size_t cut = made.how.mix_epochs ? made.rows * made.how.epochs : made.rows;
  RC_PRE(made.how.last == last_batch::keep || cut >= made.how.rows);
  return made;
}

}  // namespace

TEST_CASE("case K-L1: a loader that was stopped goes on with the rows that were to come") {
  const written_file file(lines(10));
  const options how{.rows = 4, .epochs = 2};
  const std::vector<numbers> epoch{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}};
  jsonl_loader after_4(file.path(), {.rows = 4, .epochs = 2, .first = 4});
  CHECK(read(after_4) == std::vector<numbers>{epoch[1], epoch[2], epoch[0], epoch[1], epoch[2]});
  jsonl_loader after_14(file.path(), {.rows = 4, .epochs = 2, .first = 14});
  CHECK(read(after_14) == std::vector<numbers>{epoch[1], epoch[2]});

  jsonl_loader stopped(file.path(), how);
  CHECK(read(stopped, 3) == epoch);
  CHECK(stopped.emitted() == 10);
  jsonl_loader next(file.path(), how);
  next.resume_from(stopped.state());
  CHECK(read(next) == epoch);
  CHECK(next.emitted() == 20);
}

TEST_CASE("stopped anywhere, by state file or by count, a loader emits what an uninterrupted one would have") {
  const written_file kept("");
  for_all([&] {
    const place of = any_place();
    const written_file file(lines(of.rows));
    jsonl_loader whole(file.path(), of.how);
    const std::vector<numbers> all = read(whole);
    jsonl_loader stopped(file.path(), of.how);
    for (std::size_t done = 0; done <= all.size(); ++done) {
      const std::vector<numbers> left(all.begin() + static_cast<std::ptrdiff_t>(done), all.end());
      stopped.state().save(kept.path());
      options how = of.how;
      how.state = kept.path();
      jsonl_loader by_file(file.path(), how);
      RC_ASSERT(read(by_file) == left);
      how.state.clear();
      how.first = stopped.emitted();
      jsonl_loader by_count(file.path(), how);
      RC_ASSERT(read(by_count) == left);
      (void)stopped.next_rows();
    }
  });
}

TEST_CASE("a loader goes back to rows that were emitted but not trained, also within a batch") {
  const written_file file(lines(10));
  jsonl_loader loader(file.path(), {.rows = 4, .epochs = 1, .seed = 3});
  const std::vector<numbers> all = read(loader);
  loader.resume_from(4);
  CHECK(read(loader) == std::vector<numbers>{all[1], all[2]});
  loader.resume_from(6);
  CHECK(read(loader)[0] == numbers{all[1][2], all[1][3]});
  loader.resume_from(10);
  CHECK_FALSE(loader.next_rows());
}

TEST_CASE("a state goes on with more epochs, but not behind their end") {
  const written_file file(lines(10));
  const loader_state state = state_behind(file.path(), {.rows = 4}, 10);
  jsonl_loader more(file.path(), {.rows = 4, .epochs = 3});
  more.resume_from(state);
  CHECK(read(more).size() == 6);
  CHECK(complaint(file.path(), {.rows = 4, .epochs = 1, .first = 14}) ==
        "data file '" + file.path() +
            "': 14 rows are said to be behind, but all its epochs have 10; ask for more epochs, or start from fewer "
            "rows");
}

TEST_CASE("a changed data set or option is refused with both values") {
  const written_file file(lines(10));
  const written_file kept("");
  state_behind(file.path(), {.rows = 4, .epochs = 0, .seed = 7}, 14).save(kept.path());
  const auto said = [&](options how) {
    how.epochs = 0;
    how.state = kept.path();
    return complaint(file.path(), how);
  };
  CHECK(said({.rows = 4, .seed = 7}) == "nothing");
  CHECK(said({.rows = 5, .seed = 7}) ==
        "loader state '" + kept.path() + "': data file '" + file.path() +
            "' and the options are not those of the state, so the rows that follow would not be those that should; the "
            "state has, and here is: rows 4 and 5; give the same data and options, or start from a count with .first");
  const auto names = [&](const options& how, const std::string& what) {
    return said(how).find("and here is: " + what + ";") != std::string::npos;
  };
  CHECK(names({.rows = 4, .seed = 8}, "seed 7 and 8"));
  CHECK(names({.rows = 4}, "seed 7 and none"));
  CHECK(names({.rows = 4, .last = last_batch::drop, .mix_epochs = true, .seed = 7},
              "last keep and drop, mix_epochs no and yes"));

  std::string other = lines(10);
  other[other.find('7')] = '5';
  file.write(other);
  CHECK(said({.rows = 4, .seed = 7}).find("and here is: dataset_digest ") != std::string::npos);
  file.write(lines(11));
  CHECK(said({.rows = 4, .seed = 7}).find("and here is: dataset_rows 10 and 11, dataset_digest ") != std::string::npos);
}

TEST_CASE("rows that changed places are other data, ends of lines and blank lines are not") {
  const written_file file("{\"n\": 0}\n{\"n\": 1}\n");
  const loader_state state = state_behind(file.path(), {}, 0);
  file.write("\xef\xbb\xbf{\"n\": 0}\r\n\r\n{\"n\": 1}");
  CHECK(state_behind(file.path(), {}, 0) == state);
  CHECK(state_behind(file.path(), {.holds = content::places}, 0) == state);
  file.write("{\"n\": 1}\n{\"n\": 0}\n");
  CHECK(state_behind(file.path(), {}, 0).dataset_digest != state.dataset_digest);
}

TEST_CASE("a count and a state file at once are refused") {
  const written_file file(lines(10));
  CHECK(complaint(file.path(), {.first = 4, .state = "kept"}) ==
        "data file '" + file.path() +
            "': .first says that 4 rows are behind, and .state names 'kept', which says it too; give one of them");
}

TEST_CASE("a graph hears from a state file how many rows are behind") {
  const written_file file(lines(10));
  const written_file kept("");
  state_behind(file.path(), {.rows = 4, .epochs = 2}, 14).save(kept.path());
  CHECK(jsonl_loader::emits(file.path(), {.rows = 4, .epochs = 2, .state = kept.path()}).first == 14);
  kept.write("");
  CHECK_THROWS_AS(jsonl_loader::emits(file.path(), {.state = kept.path()}), twinkle::error);
}

TEST_CASE("case K-L1: a loader that passes over what was trained emits what followed it, epochs and sequences included") {
  const written_file file(lines(10));
  jsonl_loader behind(file.path(), {.rows = 4, .epochs = 3, .first = 4});
  behind.skip(10);
  CHECK(read(behind, 1) == std::vector<numbers>{{4, 5, 6, 7}});
  CHECK(behind.emitted() == 18);
  CHECK_THROWS_AS(behind.skip(13), twinkle::error);
}
