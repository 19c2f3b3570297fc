// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/check.hpp"

#include <doctest/doctest.h>

#include "pipelines.hpp"

using namespace flow_test;
using twinkle::device_group;
using twinkle::device_mesh;
using twinkle::graph;
using texts = std::vector<std::string>;

namespace {

const device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};

texts problems_of(const graph& g) { return twinkle::check(g.plan()).problems; }

// A graph that is right, to which a test adds what is wrong.
struct right_graph {
  graph g = pipeline();
};

}  // namespace

TEST_CASE("a graph that is right has neither problems nor remarks") {
  const auto found = twinkle::check(pipeline().plan());
  CHECK(found.problems == texts{});
  CHECK(found.remarks == texts{});
  CHECK(found.good());
}

TEST_CASE("problems of all kinds are reported at once") {
  shape wrong;
  wrong.mesh = device_mesh::from_sizes({.dp_size = 3});
  wrong.sample.credits = 0;
  wrong.steps = 0;
  graph g = pipeline(wrong);
  (void)g.spawn<trainer>("model", {host});
  (void)g.option("steps", 1, "");
  (void)g.option("steps", 2, "");
  CHECK(problems_of(g) ==
        texts{"two stages are named 'model'; give each its own name",
              "option --steps is declared twice",
              "stage 'model': its mesh dp 3 has 3 ranks, but device group 'training' has 2",
              "stage 'model' is fed by nobody; let a stream, a publication or a call go to it, or take it away",
              "prompts.next -> sampler.sample: 0 credits let nothing through; give at least 1",
              "stop_after(0) would end before the first step"});
}

TEST_CASE("an empty graph has no stages and no end") {
  CHECK(problems_of(graph{"test"}) ==
        texts{"the graph has no stages", "nothing ends the run: there is no source"});
}

TEST_CASE_FIXTURE(right_graph, "a stage that nobody feeds is named once, however often its name is used") {
  for (int time = 0; time < 3; ++time)
    (void)g.spawn<trainer>("idle", {host});
  CHECK(problems_of(g)[0] == "two stages are named 'idle'; give each its own name");
  CHECK(problems_of(g).size() == 4);
}

TEST_CASE_FIXTURE(right_graph, "a device group that is wrong is reported for its stage, and counts no workers") {
  auto stage = g.spawn<origin>("more", {device_group{.name = "none", .ranks = 0}}, twinkle::emission{1, 1, true});
  auto judge = g.spawn<sampler>("judge", {device_group{.name = "odd", .ranks = 3, .gpus_per_worker = 2}});
  (void)stage.emits(&origin::next, {.name = "next"}).to(judge, &sampler::sample, {.name = "sample"});
  CHECK(problems_of(g) == texts{"stage 'more': device group 'none': 0 ranks; it must have 1 or more",
                                "stage 'judge': device group 'odd': 3 ranks do not make whole workers of 2"});
}

TEST_CASE("a mesh for another type of device than its group's is refused; gpu and cuda are one") {
  shape of;
  of.mesh = device_mesh::from_sizes({.dp_size = 2, .device_type = "NPU"});
  CHECK(problems_of(pipeline(of)) ==
        texts{"stage 'model': its mesh is for NPU, but device group 'training' is cuda"});
  of.mesh = device_mesh::from_sizes({.dp_size = 2, .device_type = "GPU"});
  CHECK(problems_of(pipeline(of)) == texts{});
}

TEST_CASE("a worker whose ranks have different data ranks is refused with both") {
  shape of;
  of.training = {.name = "training", .ranks = 4, .gpus_per_worker = 2};
  of.mesh = device_mesh::from_sizes({.dp_size = 4});
  CHECK(problems_of(pipeline(of)) ==
        texts{"stage 'model': the worker of ranks 0..1 would serve two data ranks, 0 and 1; change gpus_per_worker or "
              "the mesh"});
  of.mesh = device_mesh::from_sizes({.dp_size = 2, .tp_size = 2});
  CHECK(problems_of(pipeline(of)) == texts{});
}

TEST_CASE_FIXTURE(right_graph, "a source has one worker and no stream that feeds it; an endpoint takes one stream") {
  auto wide = g.spawn<origin>("wide", {device_group{.name = "wide", .ranks = 2, .device_type = "cpu"},
                                       device_mesh::from_sizes({.dp_size = 2})},
                              twinkle::emission{8, 8, true});
  auto both = g.spawn<sampler>("both", {host});
  const auto rows = wide.emits(&origin::next, {.name = "next"});
  (void)rows.to(both, &sampler::sample, {.name = "sample"});
  (void)rows.to(both, &sampler::sample);
  CHECK(problems_of(g) == texts{"stage 'wide' is a source with 2 workers; a source has one",
                                "two streams go to both.sample; an endpoint takes one"});
}

TEST_CASE("buffers that are too small are refused with the numbers") {
  shape of;
  of.buffers.buffer = 35;
  CHECK(problems_of(pipeline(of)) ==
        texts{"sampler.sample -> model.train: the buffer of group_by holds 35 rows, but must hold 36: 4 that it waits "
              "for and 32 of one batch that comes in",
              "sampler.sample -> model.train: the buffer of rebatch holds 35 rows, but must hold 48: 16 that it waits "
              "for and 32 of one batch that comes in"});
  of.buffers.buffer = 48;
  CHECK(problems_of(pipeline(of)) == texts{});
}

TEST_CASE("case K-F4: the buffer of rebatch(512) behind 64 rows a call with 8 children each must hold 1024 rows") {
  shape of{.emits = {64, 64, true}, .step = 512};
  of.sample.expands = 8;
  of.buffers.buffer = 1023;
  CHECK(problems_of(pipeline(of)) ==
        texts{"sampler.sample -> model.train: the buffer of rebatch holds 1023 rows, but must hold 1024: 512 that it "
              "waits for and 512 of one batch that comes in"});
  of.buffers.buffer = 1024;
  CHECK(problems_of(pipeline(of)) == texts{});
}

TEST_CASE("a rebatch that holds no row, or no group, is refused") {
  shape of{.step = 0, .train = {.name = "train"}};
  CHECK(problems_of(pipeline(of))[0] == "sampler.sample -> model.train: rebatch(0) makes no batch");
  of.step = 3;
  CHECK(problems_of(pipeline(of))[0] == "sampler.sample -> model.train: rebatch(3) cannot hold one group of 4 rows");
}

TEST_CASE("an endpoint that returns nothing for a row is refused") {
  shape of;
  of.sample.expands = 0;
  CHECK(problems_of(pipeline(of))[0] ==
        "prompts.next -> sampler.sample: .expands is 0; an endpoint that drops rows leaves tombstones instead");
}

TEST_CASE("batches that can be smaller than the data ranks need a policy") {
  shape of;
  of.emits = {8, 2, true};
  CHECK(problems_of(pipeline(of)) ==
        texts{"sampler.sample may get as few as 2 rows for its 4 data ranks; give it a policy with .small, or let the "
              "source drop its last rows"});
  for (const auto policy : {twinkle::small::refuse, twinkle::small::allow_empty}) {
    of.sample.small = policy;
    CHECK(problems_of(pipeline(of)) == texts{});
  }
  of.sample.small = twinkle::small::unset;
  of.sample.dispatch = twinkle::dispatch::all;
  CHECK(problems_of(pipeline(of)) == texts{});
}

TEST_CASE("where groups stay together, it is groups that must be enough for the data ranks") {
  shape of{.training = {.name = "training", .ranks = 8}};  // 16 rows in groups of 4
  CHECK(problems_of(pipeline(of)) == texts{});
  of.train.dispatch = twinkle::by_groups();
  CHECK(problems_of(pipeline(of)) ==
        texts{"model.train may get as few as 16 rows, in groups of 4 that stay together, for its 8 data ranks; give it a "
              "policy with .small, or let the source drop its last rows"});
  of.train.small = twinkle::small::pad;
  CHECK(problems_of(pipeline(of)) == texts{});
  of.train.small = twinkle::small::unset;
  of.training.ranks = 4;  // as many groups
  CHECK(problems_of(pipeline(of)) == texts{});
  of.emits = {8, 8, false};  // a last batch may be of one group
  of.training.ranks = 1;
  CHECK(problems_of(pipeline(of)) == texts{});
}

TEST_CASE("a bound cuts batches at the places of versions, which can leave fewer rows than data ranks") {
  shape of{.emits = {10, 10, true}};  // version v behind row (v + 1) x 4: 8 rows, 2, 2, 4, 4, …
  CHECK(problems_of(pipeline(of)) ==
        texts{"sampler.sample may get as few as 2 rows for its 4 data ranks; give it a policy with .small, or let the "
              "source drop its last rows"});
  of.train.max_staleness = std::nullopt;
  CHECK(problems_of(pipeline(of)) == texts{});
  of.train.max_staleness = 1;
  of.emits = {12, 8, true};
  CHECK(problems_of(pipeline(of)) == texts{});
}

TEST_CASE("a source that may end can leave a rebatch part-filled, down to one group") {
  shape of{.emits = {8, 8, false}, .training = {.name = "training", .ranks = 5}, .step = 32};
  CHECK(problems_of(pipeline(of)) ==
        texts{"model.train may get as few as 4 rows for its 5 data ranks; give it a policy with .small, or let the "
              "source drop its last rows"});
  of.emits.endless = true;
  CHECK(problems_of(pipeline(of)) == texts{});
}

TEST_CASE("a staleness bound needs known rows per step") {
  shape of{.emits = {0, 0, true}, .step = std::nullopt};
  CHECK(problems_of(pipeline(of)) ==
        texts{"model.train has a staleness bound, but the rows per step are not known: rebatch before model.train, or "
              "declare what the source emits"});
  of.step = 16;
  CHECK(problems_of(pipeline(of)) == texts{});
}

TEST_CASE("a staleness bound needs a step that is a whole number of the sampler's rows") {
  graph g{"test"};
  auto prompts = g.spawn<origin>("prompts", {host}, twinkle::emission{8, 8, true});
  auto samplers = g.spawn<sampler>("sampler", {host});
  auto model = g.spawn<trainer>("model", {host});
  prompts.emits(&origin::next, {.name = "next"})
      .to(samplers, &sampler::sample, {.name = "sample", .expands = 4})
      .rebatch(10)
      .to(model, &trainer::train, {.name = "train", .max_staleness = 0})
      .stop_after(1);
  model.publishes(&trainer::state, {.after = &trainer::train}).to(samplers, &sampler::load);
  CHECK(problems_of(g) ==
        texts{"model.train has a staleness bound, but the rows per step are not known: a step of 10 rows is no whole "
              "number of rows of 'sampler'; see .expands of the endpoints between"});
}

TEST_CASE("a bounded subscriber loads every version, and .every = 0 is refused") {
  shape of;
  of.load.every = 2;
  CHECK(problems_of(pipeline(of)) ==
        texts{"model.train has a staleness bound, so sampler.load must load every version, not each 2"});
  of.train.max_staleness = std::nullopt;
  CHECK(problems_of(pipeline(of)) == texts{});
  of.load.every = 0;
  CHECK(problems_of(pipeline(of)) == texts{"sampler.load: .every is 0; 1 is every version"});
}

TEST_CASE("a bound without a stage upstream that loads the weights cannot be held") {
  graph g{"test"};
  auto prompts = g.spawn<origin>("prompts", {host}, twinkle::emission{8, 8, false});
  auto model = g.spawn<trainer>("model", {host});
  auto judge = g.spawn<sampler>("judge", {host});
  (void)prompts.emits(&origin::next).to(model, &trainer::train, {.name = "train", .max_staleness = 1});
  model.publishes(&trainer::state, {.after = &trainer::train}).to(judge, &sampler::load);
  CHECK(problems_of(g) == texts{"model.train has a staleness bound, but no stage upstream of it loads the weights of "
                                "'model'"});
}

TEST_CASE("a publish cycle without a bound is a remark, for it runs") {
  shape of;
  of.train.max_staleness = std::nullopt;
  const auto found = twinkle::check(pipeline(of).plan());
  CHECK(found.good());
  CHECK(found.remarks == texts{"'model' publishes into its own past without a bound: a run is not promised to repeat; "
                               "give its training edge .max_staleness"});
}

TEST_CASE_FIXTURE(right_graph, "weights that are published to nobody, or after nothing, are problems") {
  auto other = g.spawn<trainer>("other", {host});
  auto more = g.spawn<origin>("more", {host}, twinkle::emission{1, 1, true});
  (void)more.emits(&origin::next).to(other, &trainer::train, {.name = "train"});
  (void)other.publishes(&trainer::state, {.after = &trainer::train});
  (void)other.publishes(&trainer::state, {.after = &trainer::pass});
  CHECK(problems_of(g) ==
        texts{"stage 'other' publishes after an endpoint that no stream goes to; give .after an endpoint that is fed "
              "before publishes",
              "stage 'other' publishes its weights to nobody", "stage 'other' publishes its weights to nobody"});
}

TEST_CASE("a filter, a balance or micro-batches by a column that is not routed are refused with its name") {
  constexpr twinkle::column<std::int64_t> cost{"cost"};
  graph g{"test"};
  auto from = g.spawn<origin>("prompts", {host}, twinkle::emission{4, 4, true});
  auto to = g.spawn<trainer>("model", {host});
  from.emits(&origin::next, {.name = "next"})
      .filter(cost, [](std::int64_t) { return true; }, "dear")
      .to(to, &trainer::train,
          {.name = "train", .dispatch = twinkle::balanced(cost), .micro_batches = twinkle::micro_batch_rule{costs_of(cost)}})
      .stop_after(1);
  const std::string why = " reads column 'cost' between stages, where only routed columns travel; declare its key with "
                          "twinkle::routed";
  CHECK(problems_of(g) == texts{"the dispatch of model.train" + why, "the micro-batches of model.train" + why,
                                "prompts.next -> filter" + why});
}

TEST_CASE("retries and respawns that could not work are refused, each with its reason") {
  graph g{"test"};
  auto from = g.spawn<origin>("prompts", {.group = host, .respawns = 1}, twinkle::emission{8, 8, true});
  auto to = g.spawn<sampler>("sampler", {host});
  auto model = g.spawn<trainer>("model", {.group = host, .respawns = 1});
  from.emits(&origin::next, {.name = "next"})
      .to(to, &sampler::sample, {.name = "sample", .dispatch = twinkle::dispatch::all, .retries = 1})
      .to(model, &trainer::train,
          {.name = "train", .micro_batches = twinkle::micro_batch_rule{}, .deadline = twinkle::duration{0}, .retries = 1,
           .failed = twinkle::failing::drops_rows})
      .stop_after(1);
  model.publishes(&trainer::state, {.after = &trainer::train, .name = "state"}).to(to, &sampler::load, {.name = "load"});
  CHECK(problems_of(g) ==
        texts{"stage 'prompts' has .respawns and is a source: a new one would emit its rows again",
              "sampler.sample has .retries, but every worker has all rows by its dispatch, so that nobody can take "
              "another's",
              "stage 'model' has .respawns, but its workers make what is published or kept, which a new one has not; "
              "resume the run instead",
              "model.train has a deadline of 0ns; give it time, or twinkle::no_deadline",
              "model.train returns no rows, so that none can be lost by name; .failed = failing::drops_rows is for what "
              "returns batches",
              "model.train has .retries and .micro_batches; what is left of a part has other micro-batches than were "
              "planned"});
}

TEST_CASE("case K-F10: every deadline is finite, and one that is switched off is a remark") {
  shape of;
  CHECK(twinkle::check(pipeline(of).plan()).remarks == texts{});
  of.sample.deadline = twinkle::no_deadline;
  CHECK(twinkle::check(pipeline(of).plan()).remarks ==
        texts{"sampler.sample has no deadline: a body that hangs there is waited for without end"});
}

TEST_CASE("something must end the run") {
  graph g{"test"};
  auto prompts = g.spawn<origin>("prompts", {host}, twinkle::emission{8, 8, true});
  auto model = g.spawn<trainer>("model", {host});
  const auto trained = prompts.emits(&origin::next).to(model, &trainer::train);
  CHECK(problems_of(g) == texts{"nothing ends the run: no stop_after, and every source goes on for ever"});
  trained.stop_after(3);
  CHECK(problems_of(g) == texts{});
}
