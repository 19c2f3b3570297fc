// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/checkpoint_manifest.hpp"

#include <doctest/doctest.h>

#include "for_all.hpp"
#include "twinkle/base/digest.hpp"
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

TEST_CASE("a manifest that contradicts itself is refused, though its digest is right") {
  const std::string todo = "; resume from another folder, or begin the run anew";
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = example().to_text();
    text = text.substr(0, text.rfind("\"digest\": "));
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    return complaint(text + "\"digest\": \"" + twinkle::hexadecimal(twinkle::digest{}.add(text).value()) + "\"}\n");
  };
  CHECK(with("[0,40]", "[0,40],[39,41]") ==
        "has the rows [39,41), which are empty or not behind those before them" + todo);
  CHECK(with("[0,40]", "[5,5]") == "has the rows [5,5), which are empty or not behind those before them" + todo);
  CHECK(with("{\"source\":0", "{\"source\":0,\"rows\":[[0,9]]},{\"source\":0") ==
        "has the rows of source 0 twice" + todo);
  CHECK(with("\"source\":0", "\"source\":4294967296") ==
        "has 4294967296 in 'source', which is too large" + todo);
  CHECK(with("[1,2],[0,3]", "[2,2],[0,3]") == "has child 2 of 2 in 'in_part'" + todo);
  CHECK(with("[1,2],[0,3]", "[1,2],[0,3],[0,1],[0,1]") ==
        "has a row in 'in_part' that is no child of another" + todo);
  CHECK(with("\"nine\"", "\"../nine\"") == "names the file '../nine', which is not one beside it" + todo);
  CHECK(with("\"step\": 10", "\"step\": -1") == "has a 'step' that is no whole number" + todo);
  CHECK(with("\"stages\":[\"loader\"", "\"stages\":[7") == "has a stage without a name" + todo);
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
