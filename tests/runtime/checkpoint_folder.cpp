// SPDX-License-Identifier: Apache-2.0
#include "twinkle/runtime/checkpoint_folder.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "runtime/run_log.hpp"
#include "sim/simulated_files.hpp"
#include "stories/toy.hpp"
#include "twinkle/base/error.hpp"

namespace tk = twinkle;
using tk::sim::simulated_files;

namespace {

tk::weights holding(double value, std::uint64_t version) {
  return tk::weights{{{"weight", {tk::element::f64, {1}, tk::buffer::of(std::vector<double>{value})}}}, version};
}

tk::checkpoint checkpoint_of(std::size_t step) {
  tk::checkpoint made{step, holding(static_cast<double>(step) + 0.25, 0)};
  made.versions = {{0, holding(static_cast<double>(step) - 1, step - 1)}, {0, holding(static_cast<double>(step), step)}};
  for (std::uint64_t row = 0; row < step * 8; ++row)
    made.trained.add({0, 0, row, {}});
  return made;
}

double value_of(const tk::weights& of) { return of.find("weight")->values.as<double>()[0]; }

void check_same(const tk::checkpoint& found, std::size_t step) {
  CHECK(found.step == step);
  CHECK(value_of(found.state) == static_cast<double>(step) + 0.25);
  REQUIRE(found.versions.size() == 2);
  CHECK(found.versions[0].value.version() == step - 1);
  CHECK(value_of(found.versions[1].value) == static_cast<double>(step));
  CHECK(found.trained == checkpoint_of(step).trained);
}

std::string complaint(tk::checkpoint_folder& of) {
  try {
    static_cast<void>(of.read());
  } catch (const tk::error& bad) {
    return bad.what();
  }
  return "nothing";
}

struct written {
  tk::graph pipeline = toy::pipeline({.keeps = true});
  simulated_files files;
  tk::checkpoint_folder folder{"out/checkpoint", pipeline, 1, &files};
};

}  // namespace

TEST_CASE("a checkpoint is read as it was written, and the next one takes its place") {
  written here;
  here.folder.write(checkpoint_of(10));
  check_same(here.folder.read(), 10);
  here.folder.write(checkpoint_of(20));
  check_same(here.folder.read(), 20);
  CHECK(here.files.names("out/checkpoint") ==
        std::vector<std::string>{"manifest.json", "step-20.publication-0.version-19.safetensors",
                                 "step-20.publication-0.version-20.safetensors", "step-20.state.safetensors"});
}

TEST_CASE("a process that is killed behind any step of writing a checkpoint leaves that one or the one before") {
  std::size_t before = 0;
  std::size_t after = 0;
  for (std::size_t steps = 0;; ++steps) {
    CAPTURE(steps);
    written here;
    here.folder.write(checkpoint_of(10));
    here.files.kill_after(steps);
    bool survived = true;
    try {
      here.folder.write(checkpoint_of(20));
    } catch (const simulated_files::killed&) {
      survived = false;
    }
    here.files.kill_after(std::nullopt);
    tk::checkpoint_folder next{"out/checkpoint", here.pipeline, 1, &here.files};
    const tk::checkpoint found = next.read();
    check_same(found, found.step == 20 ? 20 : 10);
    ++(found.step == 20 ? after : before);
    // Whatever was half done is no hindrance, and is gone with the next one.
    next.write(checkpoint_of(30));
    check_same(next.read(), 30);
    CHECK(here.files.names("out/checkpoint").size() == 4);
    if (survived)
      break;
  }
  CHECK(before > 5);
  CHECK(after > 3);
}

TEST_CASE("a process that is killed while it clears the folder leaves the old checkpoint, or none") {
  for (std::size_t steps = 0; steps < 4; ++steps) {
    written here;
    here.folder.write(checkpoint_of(10));
    here.files.kill_after(steps);
    CHECK_THROWS_AS(here.folder.clear(), simulated_files::killed);
    here.files.kill_after(std::nullopt);
    if (steps == 0)
      check_same(here.folder.read(), 10);
    else
      CHECK(complaint(here.folder).starts_with("there is no checkpoint in 'out/checkpoint'"));
  }
}

TEST_CASE("where nothing was saved, or a file is missing or changed, reading says which and what to do") {
  written here;
  CHECK(complaint(here.folder) ==
        "there is no checkpoint in 'out/checkpoint': no step was saved there, or it is another folder; begin the run "
        "without resuming it");
  here.folder.write(checkpoint_of(10));
  const auto whole = here.files.contents();
  const std::string state = "out/checkpoint/step-10.state.safetensors";
  here.files.contents().erase(state);
  CHECK(complaint(here.folder) ==
        "checkpoint 'out/checkpoint' is damaged: its manifest names 'step-10.state.safetensors', which is not there; "
        "put it back, or begin anew");
  for (std::size_t at = 0; at < whole.at(state).size(); ++at) {
    here.files.contents() = whole;
    here.files.contents()[state][at] ^= 1;
    CHECK(complaint(here.folder).starts_with("checkpoint 'out/checkpoint' is damaged: 'step-10.state.safetensors' has "));
    here.files.contents()[state] = whole.at(state).substr(0, at);
    CHECK(complaint(here.folder).starts_with("checkpoint 'out/checkpoint' is damaged: 'step-10.state.safetensors' has "));
  }
  here.files.contents() = whole;
  here.files.contents()["out/checkpoint/manifest.json"] = "something";
  CHECK(complaint(here.folder) ==
        "checkpoint 'out/checkpoint/manifest.json' is no manifest of a checkpoint: it does not start with the format "
        "'twinkle checkpoint'; resume from another folder, or begin the run anew");
}

TEST_CASE("a checkpoint of another graph or seed is refused with both values") {
  written here;
  here.folder.write(checkpoint_of(10));
  tk::graph other{"other"};
  toy::build(other, {.keeps = true});
  tk::checkpoint_folder folder{"out/checkpoint", other, 2, &here.files};
  CHECK(complaint(folder) ==
        "checkpoint 'out/checkpoint' is of another run: the graph is 'toy' there and 'other' here, --seed is 1 there and "
        "2 here; give the same graph, seed and options, or begin a run in another folder");
}

TEST_CASE("metrics of a run that goes on are cut back to its step, and must have all before it") {
  simulated_files files;
  std::ostringstream said;
  const auto log_behind = [&](std::size_t step) { return tk::runtime::run_log{{}, "out", files, said, step}; };
  auto log = log_behind(0);
  for (std::size_t step = 1; step <= 5; ++step)
    log.on_step({.step = step});
  const std::string whole = files.contents().at("out/metrics.jsonl");
  files.contents()["out/metrics.jsonl"] += "{\"step\": 6, \"wei";  // torn
  auto next = log_behind(3);
  CHECK(whole.starts_with(files.contents().at("out/metrics.jsonl")));
  next.on_step({.step = 4});
  next.on_step({.step = 5});
  CHECK(files.contents().at("out/metrics.jsonl") == whole);
  CHECK_THROWS_WITH_AS(log_behind(7),
                       "'out/metrics.jsonl' has 5 of the 7 steps that are saved beside it, and then something else; put "
                       "the right one back, or move it away to go on without it",
                       tk::error);
  files.contents().erase("out/metrics.jsonl");
  static_cast<void>(log_behind(7));
  CHECK(files.contents().at("out/metrics.jsonl").empty());
}
