// SPDX-License-Identifier: Apache-2.0
#include "twinkle/place/layout.hpp"

#include <doctest/doctest.h>

#include "flow/pipelines.hpp"

using namespace flow_test;
using twinkle::device_group;
using twinkle::device_mesh;
using twinkle::failing;
using twinkle::graph;
using twinkle::place::lay_out;
using twinkle::place::layout;
using devices = std::vector<std::size_t>;
using texts = std::vector<std::string>;

namespace {

// One stage on each group.
graph on_groups(const std::vector<device_group>& groups) {
  graph g{"test"};
  for (std::size_t at = 0; at < groups.size(); ++at)
    (void)g.spawn<sampler>("stage" + std::to_string(at), {groups[at]});
  return g;
}

layout placed(const std::vector<device_group>& groups) { return lay_out(on_groups(groups).plan()); }

devices devices_of(const layout& from, const std::string& group) {
  for (const auto& each : from.groups)
    if (each.name == group)
      return each.devices;
  return {};
}

}  // namespace

TEST_CASE("case K-P2: a list of devices 4 to 7 goes first, and a count of 4 gets 0 to 3") {
  for (const bool list_first : {true, false}) {
    std::vector<device_group> groups{{.name = "A", .ranks = {4, 5, 6, 7}}, {.name = "B", .ranks = 4}};
    if (!list_first)
      std::swap(groups[0], groups[1]);
    const auto found = placed(groups);
    CHECK(found.problems == texts{});
    CHECK(devices_of(found, "A") == devices{4, 5, 6, 7});
    CHECK(devices_of(found, "B") == devices{0, 1, 2, 3});
  }
}

TEST_CASE("case K-P2: two groups that share devices are refused with their names and the devices") {
  const std::string remedy = "; give them different devices, or name one in the other's colocate";
  CHECK(placed({{.name = "A", .ranks = {0, 1, 2, 3}}, {.name = "B", .ranks = {2, 3}}}).problems ==
        texts{"device groups 'A' and 'B' share cuda devices 2,3" + remedy});
  CHECK(placed({{.name = "A", .ranks = {0, 1}}, {.name = "B", .ranks = {2}}, {.name = "C", .ranks = {1, 2}}})
            .problems == texts{"device groups 'A' and 'C' share cuda devices 1" + remedy,
                               "device groups 'B' and 'C' share cuda devices 2" + remedy});
}

TEST_CASE("4 is a count, and {4} the list of device 4") {
  const auto found = placed({{.name = "count", .ranks = 4}, {.name = "list", .ranks = {4}}});
  CHECK(devices_of(found, "count") == devices{0, 1, 2, 3});
  CHECK(devices_of(found, "list") == devices{4});
}

TEST_CASE("counts take the first free runs of a worker's devices, in the order of their declaration") {
  const auto found = placed({{.name = "fixed", .ranks = {1, 5}},
                             {.name = "pairs", .ranks = 4, .gpus_per_worker = 2},
                             {.name = "single", .ranks = 3}});
  CHECK(devices_of(found, "pairs") == devices{2, 3, 6, 7});
  CHECK(devices_of(found, "single") == devices{0, 4, 8});
}

TEST_CASE("devices of different types have numbers of their own; gpu and cuda are one type") {
  const auto found = placed({{.name = "a", .ranks = 2}, {.name = "b", .ranks = 2, .device_type = "GPU"},
                             {.name = "c", .ranks = 2, .device_type = "npu"}, {.name = "d", .ranks = 2, .device_type = "cpu"}});
  CHECK(devices_of(found, "a") == devices{0, 1});
  CHECK(devices_of(found, "b") == devices{2, 3});
  CHECK(devices_of(found, "c") == devices{0, 1});
  CHECK(devices_of(found, "d") == devices{0, 1});
}

TEST_CASE("stages on one group share its devices; two groups of one name must be alike") {
  const device_group same{.name = "same", .ranks = 2};
  CHECK(placed({same, same}).groups.size() == 1);
  CHECK(placed({same, {.name = "same", .ranks = 3}}).problems ==
        texts{"two device groups are named 'same' and differ"});
  CHECK(placed({same, {.name = "same", .ranks = 2, .device_type = "npu"}}).problems ==
        texts{"two device groups are named 'same' and differ"});
  CHECK(placed({same, {.name = "same", .ranks = 2, .device_type = "gpu"}}).problems == texts{});
}

TEST_CASE("a worker says where it sits: its rank's coordinates and its devices") {
  graph g{"grpo"};
  const device_group pairs{.name = "pairs", .ranks = {6, 7, 2, 3}, .gpus_per_worker = 2};
  (void)g.spawn<sampler>("sampler", {pairs});
  (void)g.spawn<trainer>("model", {{.name = "rest", .ranks = 4}, device_mesh::from_sizes({.dp_size = 2, .tp_size = 2})});
  const auto found = lay_out(g.plan());
  const auto& sampler_at = found.stages[0].workers;
  REQUIRE(sampler_at.size() == 2);
  CHECK(sampler_at[0].name == "grpo/sampler[dp=0,tp=0]@local:gpu6+7");
  CHECK(sampler_at[1].name == "grpo/sampler[dp=1,tp=0]@local:gpu2+3");
  CHECK(sampler_at[1].ranks == devices{2, 3});
  CHECK(sampler_at[1].devices == texts{"2", "3"});
  CHECK(sampler_at[1].data_rank() == 1);
  CHECK(found.stages[1].workers[3].name == "grpo/model[dp=1,tp=1]@local:gpu5");
  CHECK(found.stages[1].team.data_rank == devices{0, 0, 1, 1});
  CHECK(found.stages[1].team.representatives == devices{0, 2});
}

TEST_CASE("case K-P3: on a cluster each worker learns its node, and its devices as the node numbers them") {
  graph g{"grpo"};
  (void)g.spawn<trainer>("model", {{.name = "model", .ranks = 4}});
  (void)g.spawn<sampler>("sampler", {{.name = "rollout", .ranks = 12, .gpus_per_worker = 4}});
  (void)g.spawn<sampler>("judge", {{.name = "host", .ranks = 2, .device_type = "cpu"}});
  const twinkle::place::cluster machines{
      "lab", {{.name = "n0", .devices = 8, .cpus = 1}, {.name = "n1", .devices = 8, .cpus = 4}}};
  const auto found = lay_out(g.plan(), machines);
  REQUIRE(found.problems == texts{});
  const auto& workers = found.stages[1].workers;
  REQUIRE(workers.size() == 3);
  CHECK(workers[0].name == "grpo/sampler[dp=0,tp=0]@n0:gpu4+5+6+7");
  CHECK(workers[1].name == "grpo/sampler[dp=1,tp=0]@n1:gpu0+1+2+3");
  CHECK(workers[2].node == 1);
  CHECK(workers[2].node_name == "n1");
  CHECK(workers[2].local_devices == devices{4, 5, 6, 7});
  CHECK(workers[2].devices == texts{"4", "5", "6", "7"});
  CHECK(found.stages[2].workers[1].name == "grpo/judge[dp=1]@n1:cpu0");
  const std::string drawn = twinkle::place::draw(g.plan(), found);
  CHECK(drawn.find("    cuda 4-7  rollout ranks 0-3 <- sampler\n") != std::string::npos);
  CHECK(lay_out(g.plan(), {"small", {{.name = "n0", .devices = 8, .cpus = 2}}}).problems ==
        texts{"short 8 cuda: the groups ask for 16, the cluster has 8; 'rollout' asks for 12 in workers of 4 and gets "
              "4"});
}

TEST_CASE("one machine is one node, whatever types of device it has") {
  const auto found = placed({{.name = "c", .ranks = 1}, {.name = "n", .ranks = 1, .device_type = "npu"}});
  CHECK(found.stages[1].workers[0].name == "test/stage1[dp=0]@local:npu0");
  CHECK(found.stages[1].workers[0].node == 0);
}

TEST_CASE("the i-th rank sees the i-th visible device, and too few are refused with both numbers") {
  const auto found = placed({{.name = "a", .ranks = 2, .visible_devices = {"GPU-x", "GPU-y"}}});
  CHECK(found.stages[0].workers[1].devices == texts{"GPU-y"});
  CHECK(placed({{.name = "a", .ranks = 3, .visible_devices = {"GPU-x", "GPU-y"}}}).problems ==
        texts{"device group 'a' has 3 ranks, but only 2 visible devices"});
}

TEST_CASE("case K-D1: the representatives of pp 2, dp 2, tp 2 are the workers 4 and 6 of the last stage") {
  graph g{"test"};
  (void)g.spawn<trainer>("model", {{.name = "a", .ranks = 8},
                                   device_mesh::from_sizes({.dp_size = 2, .pp_size = 2, .tp_size = 2})});
  (void)g.spawn<trainer>("pairs", {{.name = "b", .ranks = 8, .gpus_per_worker = 2},
                                   device_mesh::from_sizes({.dp_size = 2, .pp_size = 2, .tp_size = 2})});
  const auto found = lay_out(g.plan());
  CHECK(found.stages[0].team.representatives == devices{4, 6});
  CHECK(found.stages[1].team.representatives == devices{2, 3});
  CHECK(found.stages[1].team.data_rank == devices{0, 1, 0, 1});
}

TEST_CASE("edges get their credits, buffers and bounds from what is known of the rows") {
  shape of;
  of.sample.credits = 5;
  const auto found = lay_out(pipeline(of).plan());
  REQUIRE(found.stages.size() == 3);
  CHECK(found.stages[0].source == 0);
  CHECK(found.stages[0].outputs.at(0).credits == 5);
  CHECK(found.stages[1].outputs.at(0).credits == 2 * 32);
  CHECK(found.stages[2].inputs.at(0).buffer == 4 + 16 + 32);
  CHECK(found.stages[2].inputs.at(0).max_staleness == 1);
  CHECK(found.stages[1].inputs.at(0).exactly == 4);
  CHECK(found.stages[1].loads.at(0).bound == 1);
  CHECK(found.stages[1].loads.at(0).rows_per_step == 4);
  CHECK(found.stages[2].publications.at(0).subscribers.at(0).bounded);
  CHECK(found.stages[2].steps->steps == 10);
  of.buffers.buffer = 400;
  CHECK(lay_out(pipeline(of).plan()).stages[2].inputs.at(0).buffer == 400);
}

TEST_CASE("upstream of a bound an endpoint that says nothing keeps the number of rows") {
  shape of;
  of.sample.expands = std::nullopt;
  CHECK(lay_out(pipeline(of).plan()).stages[1].inputs.at(0).exactly == 1);
  of.train.max_staleness = std::nullopt;
  CHECK_FALSE(lay_out(pipeline(of).plan()).stages[1].inputs.at(0).exactly);
}

TEST_CASE("rows may be lost at an endpoint that drops what nobody could work on, and behind it") {
  const auto may_lose = [](failing failed, std::size_t stage) {
    return lay_out(flow_test::pipeline({.sample = {.name = "sample", .expands = 4, .failed = failed}}).plan())
        .stages.at(stage)
        .inputs.at(0)
        .may_lose;
  };
  for (const std::size_t stage : {flow_test::sampler_at, flow_test::model_at}) {
    CHECK(may_lose(failing::drops_rows, stage));
    CHECK_FALSE(may_lose(failing::ends_run, stage));
  }
}

TEST_CASE("a layout draws its devices, stages and flows") {
  const graph g = pipeline();
  CHECK(twinkle::place::draw(g.plan(), lay_out(g.plan())) ==
        "graph test\n"
        "devices     (no cluster file: this machine is taken to have them)\n"
        "  host  cpu 0  <- prompts\n"
        "  rollout  cuda 0,1,2,3  <- sampler\n"
        "  training  cuda 4,5  <- model\n"
        "stages\n"
        "  prompts  1 worker, mesh dp 1, 1 data rank\n"
        "  sampler  4 workers, mesh dp 4, 4 data ranks\n"
        "  model  2 workers, mesh dp 2, 2 data ranks\n"
        "flow\n"
        "  prompts.next -> sampler.sample   (8 rows a batch, credits 16, x4)\n"
        "  sampler.sample -> group_by(parent) -> rebatch(16) -> model.train   (16 rows a batch, credits 64, buffer 52, "
        "staleness at most 1)\n"
        "  model.state => sampler.load   (weights after each model.train, version v behind row (v + 1) x 4)\n"
        "  ends after 10 steps of model.train\n");
}

TEST_CASE("a drawing says which columns an endpoint reads") {
  shape of;
  of.train.reads = {twinkle::column<float>{"reward"}, twinkle::text{"answer"}, twinkle::text{"answer"}};
  const graph g = pipeline(of);
  CHECK(twinkle::place::draw(g.plan(), lay_out(g.plan())).find(", staleness at most 1, reads reward and answer)\n") !=
        std::string::npos);
}

TEST_CASE("case K-D10: a drawing says whose rows each data rank of a consumer works on") {
  graph g{"test"};
  auto source = g.spawn<origin>("prompts", {{.name = "host", .device_type = "cpu"}}, twinkle::emission{7, 7, true});
  auto samplers = g.spawn<sampler>("sampler", {{.name = "rollout", .ranks = 4}});
  auto model = g.spawn<trainer>("model", {{.name = "training", .ranks = 4},
                                          twinkle::device_mesh::from_sizes({.dp_size = 2, .tp_size = 2})});
  source.emits(&origin::next).to(samplers, &sampler::sample).to(model, &trainer::train).stop_after(1);
  CHECK(twinkle::place::draw(g.plan(), lay_out(g.plan())).find("      data ranks 0 <- 0,1; 1 <- 2,3\n") !=
        std::string::npos);
}
