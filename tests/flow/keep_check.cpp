// SPDX-License-Identifier: Apache-2.0
// What check() says of stages that keep what a resumed run needs.
#include <doctest/doctest.h>

#include "pipelines.hpp"
#include "twinkle/flow/caller.hpp"
#include "twinkle/flow/check.hpp"

using namespace flow_test;
using twinkle::device_group;
using twinkle::graph;
using texts = std::vector<std::string>;

namespace {

struct keeper : trainer {
  twinkle::weights save(twinkle::context&) { return {}; }
  void restore(twinkle::context&, twinkle::weights) {}
};

const device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};

texts problems_of(const graph& g) { return twinkle::check(g.plan()).problems; }

struct parts {
  graph g{"test"};
  twinkle::stage<origin> prompts = g.spawn<origin>("prompts", {host}, twinkle::emission{8, 8, true});
  twinkle::stage<keeper> model = g.spawn<keeper>("model", {host});
  twinkle::stage<keeper> critic = g.spawn<keeper>("critic", {host});
  twinkle::stream rows = prompts.emits(&origin::next, {.name = "next"});
};

}  // namespace

TEST_CASE("the stage whose results are the steps may keep its state") {
  parts of;
  of.rows.to(of.model, &keeper::train, {.name = "train"}).stop_after(5);
  (void)of.rows.to(of.critic, &keeper::train, {.name = "train"});
  of.model.keeps(&keeper::save, &keeper::restore);
  CHECK(problems_of(of.g) == texts{});
}

TEST_CASE("two stages that keep, one whose results are no steps, and weights that nobody keeps are refused by name") {
  parts of;
  of.rows.to(of.model, &keeper::train, {.name = "train"}).stop_after(5);
  (void)of.rows.to(of.critic, &keeper::train, {.name = "train"});
  of.critic.keeps(&keeper::save, &keeper::restore);
  of.model.keeps(&keeper::save, &keeper::restore);
  CHECK(problems_of(of.g) ==
        texts{"stage 'critic' keeps its state, and so does 'model'; one stage can, that whose results are the steps",
              "stage 'critic' keeps its state, but none of its results is a step; keep that of the stage with "
              "stop_after, or that publishes",
              "stage 'critic' keeps its state, but the steps are those of 'model', by stop_after; keep the state of "
              "that stage"});
}

TEST_CASE("weights of a stage that keeps nothing, two kinds of steps, and a driver are refused beside one that keeps") {
  parts of;
  auto watcher = of.g.spawn<sampler>("watcher", {host});
  of.rows.to(of.model, &keeper::train, {.name = "train"}).stop_after(5);
  (void)of.rows.to(of.model, &keeper::pass, {.name = "pass"}).to(of.critic, &keeper::train, {.name = "train"});
  of.model.publishes(&keeper::state, {.after = &keeper::pass, .name = "state"}).to(watcher, &sampler::load);
  of.critic.publishes(&keeper::state, {.after = &keeper::train, .name = "state"}).to(watcher, &sampler::load);
  of.model.keeps(&keeper::save, &keeper::restore);
  of.g.drive([](twinkle::caller&) {});
  CHECK(problems_of(of.g) ==
        texts{"stage 'model' keeps its state, but results of two endpoints are steps, model.train and model.pass; let "
              "it publish after the one with stop_after",
              "stage 'model' keeps its state, and 'critic' publishes weights that nobody keeps; a resumed run would "
              "begin with them anew",
              "stage 'model' keeps its state, but a driver decides what happens, and nobody keeps where it is; save in "
              "the driver, by calls"});
}
