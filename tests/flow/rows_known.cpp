// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/rows_known.hpp"

#include <doctest/doctest.h>

#include "pipelines.hpp"

using namespace flow_test;
using twinkle::graph;
using twinkle::rows_known;

namespace {

const twinkle::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};

}  // namespace

TEST_CASE("rows are known from what the source emits, .expands and rebatch") {
  const graph g = pipeline({.emits = {8, 5, true}, .step = 18});
  const rows_known rows{g.plan()};
  const auto& edges = g.plan().edges;
  REQUIRE(edges.size() == 2);
  CHECK(rows.produced(edges[0]) == 8);
  CHECK(rows.arriving(edges[0]) == 8);
  CHECK(rows.fewest(edges[0]) == 5);
  CHECK(rows.group_size(edges[0]) == 1);
  CHECK(rows.need(edges[0]) == 0);
  CHECK(rows.produced(edges[1]) == 32);
  CHECK(rows.group_size(edges[1]) == 4);
  CHECK(rows.arriving(edges[1]) == 16);  // four groups of 4: a fifth would pass 18
  CHECK(rows.fewest(edges[1]) == 16);
  CHECK(rows.need(edges[1]) == 18 + 4);
  CHECK(rows.rows_per_step(edges[1], 1) == 4);
}

TEST_CASE("a source that may end can leave a rebatch with one group") {
  const graph g = pipeline({.emits = {8, 5, false}});
  const rows_known rows{g.plan()};
  CHECK(rows.arriving(g.plan().edges[1]) == 16);
  CHECK(rows.fewest(g.plan().edges[1]) == 4);
}

TEST_CASE("without rebatch a batch is what one call makes of the source's") {
  const graph g = pipeline({.emits = {8, 5, true}, .step = std::nullopt});
  const rows_known rows{g.plan()};
  CHECK(rows.arriving(g.plan().edges[1]) == 32);
  CHECK(rows.fewest(g.plan().edges[1]) == 20);
  CHECK(rows.need(g.plan().edges[1]) == 4);
  CHECK(rows.rows_per_step(g.plan().edges[1], 1) == 8);
}

TEST_CASE("what a source does not say is not known, until a rebatch says it") {
  const graph g = pipeline({.emits = {}, .step = 16});
  const rows_known rows{g.plan()};
  CHECK_FALSE(rows.produced(g.plan().edges[0]));
  CHECK_FALSE(rows.fewest(g.plan().edges[0]));
  CHECK_FALSE(rows.produced(g.plan().edges[1]));
  CHECK(rows.arriving(g.plan().edges[1]) == 16);
  CHECK(rows.rows_per_step(g.plan().edges[1], 1) == 4);
}

TEST_CASE("rows per step are counted at the input of each stage upstream, and of no other") {
  graph g{"test"};
  auto prompts = g.spawn<origin>("prompts", {host}, twinkle::emission{6, 6, true});
  auto first = g.spawn<sampler>("first", {host});
  auto second = g.spawn<sampler>("second", {host});
  auto model = g.spawn<trainer>("model", {host});
  auto aside = g.spawn<sampler>("aside", {host});
  auto rows = prompts.emits(&origin::next);
  (void)rows.to(aside, &sampler::sample);
  (void)rows.to(first, &sampler::sample, {.expands = 2})
      .to(second, &sampler::sample, {.expands = 3})
      .group_by(twinkle::parent)
      .rebatch(24)
      .to(model, &trainer::train);
  const rows_known known{g.plan()};
  const auto& trained = g.plan().edges.back();
  CHECK(known.group_size(trained) == 3);
  CHECK(known.rows_per_step(trained, second.ordinal()) == 8);
  CHECK(known.rows_per_step(trained, first.ordinal()) == 4);
  CHECK_FALSE(known.rows_per_step(trained, prompts.ordinal()));
  CHECK_FALSE(known.rows_per_step(trained, aside.ordinal()));
  CHECK_FALSE(known.rows_per_step(trained, model.ordinal()));
  CHECK(known.upstream(first.ordinal(), trained));
  CHECK(known.upstream(prompts.ordinal(), trained));
  CHECK_FALSE(known.upstream(aside.ordinal(), trained));
  CHECK_FALSE(known.upstream(model.ordinal(), trained));
}

TEST_CASE("rows per step are not known where they do not divide") {
  graph g{"test"};
  auto prompts = g.spawn<origin>("prompts", {host}, twinkle::emission{6, 6, true});
  auto samplers = g.spawn<sampler>("sampler", {host});
  auto model = g.spawn<trainer>("model", {host});
  (void)prompts.emits(&origin::next).to(samplers, &sampler::sample, {.expands = 4}).rebatch(10).to(model, &trainer::train);
  const rows_known rows{g.plan()};
  CHECK(rows.arriving(g.plan().edges[1]) == 10);
  CHECK_FALSE(rows.rows_per_step(g.plan().edges[1], samplers.ordinal()));
}

TEST_CASE("groups stay together on the edges behind group_by, and are not there before it") {
  graph g{"test"};
  auto prompts = g.spawn<origin>("prompts", {host}, twinkle::emission{6, 6, true});
  auto samplers = g.spawn<sampler>("sampler", {host});
  auto judge = g.spawn<sampler>("judge", {host});
  auto model = g.spawn<trainer>("model", {host});
  (void)prompts.emits(&origin::next)
      .to(samplers, &sampler::sample, {.expands = 4})
      .group_by(twinkle::parent)
      .to(judge, &sampler::sample)
      .rebatch(10)
      .to(model, &trainer::train);
  const rows_known rows{g.plan()};
  const auto& edges = g.plan().edges;
  CHECK(rows.group_size(edges[0]) == 1);
  CHECK(rows.group_size(edges[1]) == 4);
  CHECK(rows.group_size(edges[2]) == 4);
  CHECK(rows.arriving(edges[2]) == 8);
}
