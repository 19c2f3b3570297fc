// SPDX-License-Identifier: Apache-2.0
#include "twinkle/workers/loader_state.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <limits>

#include "for_all.hpp"
#include "jsonl_files.hpp"
#include "twinkle/base/error.hpp"

using jsonl_test::written_file;
using twinkle::loader_state;
using last_batch = loader_state::last_batch;

namespace {

const loader_state sample{14, 10, 0x0123456789abcdef, 4, last_batch::keep, false, 7};

std::string complaint(const std::string& text) {
  try {
    (void)loader_state::of_text(text);
  } catch (const twinkle::error& bad) {
    return bad.what();
  }
  return "nothing";
}

const std::string advice = "; take another state file, or none, and say with .first how many rows are behind";

}  // namespace

TEST_CASE("a state is a few lines of text that people can read") {
  const std::string text = sample.to_text();
  CHECK(text.starts_with(
      "twinkle loader state 1\nemitted 14\ndataset_rows 10\ndataset_digest 0123456789abcdef\nrows 4\nlast keep\n"
      "mix_epochs no\nseed 7\ndigest "));
  CHECK(loader_state::of_text(text) == sample);
}

TEST_CASE("every state is read as it was written") {
  for_all([] {
    const auto number = rc::gen::arbitrary<std::uint64_t>();
    loader_state state{*number, *number, *number, *number, last_batch::keep, *rc::gen::arbitrary<bool>()};
    if (*rc::gen::arbitrary<bool>())
      state.last = last_batch::drop;
    if (*rc::gen::arbitrary<bool>())
      state.seed = *number;
    RC_ASSERT(loader_state::of_text(state.to_text()) == state);
  });
}

TEST_CASE("a state that is cut short anywhere, or changed in one byte, is refused") {
  const std::string text = sample.to_text();
  for (std::size_t bytes = 1; bytes < text.size(); ++bytes)
    CHECK(complaint(text.substr(0, bytes)) != "nothing");
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    CHECK(complaint(changed) != "nothing");
  }
  CHECK(complaint(text + "more\n") != "nothing");
  CHECK(complaint(text.substr(0, text.size() / 2)) ==
        "is cut short or was changed: its last line is not the digest of those before it" + advice);
}

TEST_CASE("an empty, a foreign and a newer state are told apart") {
  CHECK(complaint("") == "is empty" + advice);
  CHECK(complaint("{\"n\": 1}\n") ==
        "is no loader state: it does not start with 'twinkle loader state '" + advice);
  CHECK(complaint(std::string(500, '\0')).starts_with("is no loader state"));
  CHECK(complaint("twinkle loader state 2\nshards 9\n") ==
        "is of version 2, but this program reads versions up to 1" + advice);
}

TEST_CASE("a state file is named where it cannot be read") {
  const written_file file("");
  CHECK_THROWS_WITH_AS((void)loader_state::load(file.path()),
                       ("loader state '" + file.path() + "' is empty" + advice).c_str(), twinkle::error);
  CHECK_THROWS_WITH_AS((void)loader_state::load("/no/such/state"),
                       ("loader state '/no/such/state' does not exist; relative paths start at " +
                        std::filesystem::current_path().string())
                           .c_str(),
                       twinkle::error);
  CHECK_THROWS_AS((void)loader_state::load("/tmp"), twinkle::error);
  CHECK_THROWS_AS((void)loader_state::load("/dev/zero"), twinkle::error);
}

TEST_CASE("saving replaces the file and leaves nothing beside it") {
  const written_file file("older");
  sample.save(file.path());
  CHECK(loader_state::load(file.path()) == sample);
  CHECK_FALSE(std::filesystem::exists(file.path() + ".new"));
  CHECK_THROWS_AS(sample.save("/proc/no/such/state"), twinkle::error);
}

TEST_CASE("states differ by data and options, not by their places") {
  loader_state other = sample;
  other.emitted = 3;
  CHECK(sample.difference(other).empty());
  other.rows = 5;
  other.seed.reset();
  CHECK(sample.difference(other) == "rows 4 and 5, seed 7 and none");
}
