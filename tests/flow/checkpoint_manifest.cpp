// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/checkpoint_manifest.hpp"

#include <doctest/doctest.h>

#include "for_all.hpp"
#include "twinkle/base/error.hpp"

using twinkle::checkpoint_manifest;
using twinkle::identity;
using twinkle::run_description;

namespace {

checkpoint_manifest example() {
  checkpoint_manifest made;
  made.of = {"grpo", ~std::uint64_t{0}, {"loader", "model"}, {{"steps", "20"}, {"data", "a \"b\"\n.jsonl"}}};
  made.step = 10;
  for (std::uint64_t at = 0; at < 40; ++at)
    made.trained.add({0, 0, at, {}});
  made.trained.add({0, 0, 44, {}});
  made.trained.add(twinkle::child_of(twinkle::child_of({1, 0, 7, {}}, 1, 2), 0, 3));
  made.state = {"step-10.state.safetensors", 100, 0xabcdef};
  made.versions = {{0, 9, {"nine", 1, 2}}, {0, 10, {"ten", 3, ~std::uint64_t{0}}}};
  return made;
}

std::string complaint(std::string_view text) {
  try {
    static_cast<void>(checkpoint_manifest::of_text(text));
  } catch (const twinkle::error& bad) {
    return bad.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("a manifest is read as it was written") {
  CHECK(checkpoint_manifest::of_text(example().to_text()) == example());
  CHECK(checkpoint_manifest::of_text(checkpoint_manifest{.of = {}, .state = {"a", 0, 0}}.to_text()).step == 0);
}

TEST_CASE("a manifest that is empty, foreign, cut short or of a newer version is refused, and says what to do") {
  const std::string todo = "; resume from another folder, or begin the run anew";
  CHECK(complaint("") == "is empty" + todo);
  CHECK(complaint("{}") ==
        "is no manifest of a checkpoint: it does not start with the format 'twinkle checkpoint'" + todo);
  const std::string text = example().to_text();
  for (std::size_t bytes = 40; bytes + 2 < text.size(); ++bytes)
    CHECK(complaint(text.substr(0, bytes)) == "is cut short or was changed: it is no whole JSON object" + todo);
  std::string newer = text;
  newer.replace(newer.find("version\": 1"), 11, "version\": 2");
  CHECK(complaint(newer) == "is of version 2, but this program reads versions up to 1" + todo);
  std::string changed = text;
  changed.replace(changed.find("\"step\": 10"), 10, "\"step\": 11");
  CHECK(complaint(changed) == "was changed: its last line is not the digest of those before it" + todo);
}

TEST_CASE("a manifest with any byte changed is refused or the same") {
  const std::string text = example().to_text();
  for_all([&text] {
    std::string changed = text;
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    changed[at] = static_cast<char>(*rc::gen::inRange(0, 256));
    try {
      RC_ASSERT(checkpoint_manifest::of_text(changed) == example());
    } catch (const twinkle::error&) {
    }
  });
}

TEST_CASE("what differs between two runs is named with both values") {
  const run_description there = example().of;
  CHECK(there.difference(there) == "");
  run_description here = there;
  here.graph = "ppo";
  here.seed = 2;
  here.stages = {"loader"};
  here.options = {{"steps", "30"}, {"staleness", "1"}, {"data", "a \"b\"\n.jsonl"}};
  CHECK(there.difference(here) ==
        "the graph is 'grpo' there and 'ppo' here, the list of stages is 'loader, model' there and 'loader' here, "
        "--seed is 18446744073709551615 there and 2 here, --staleness is unknown there and '1' here, --steps is '20' "
        "there and '30' here");
}
