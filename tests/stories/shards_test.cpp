// SPDX-License-Identifier: Apache-2.0
// Weights whose publishers hold them in one layout, and whose subscribers load them in another.
#include "numbers.hpp"
#include "twinkle/testing/simulation.hpp"

namespace tk = twinkle;
using namespace std::chrono_literals;
using numbers::number;
using numbers::source;
using tk::sim::simulation;

namespace {

constexpr std::size_t rows = 8;
constexpr std::size_t columns = 6;

float element(std::size_t row, std::size_t column, std::size_t version) {
  return static_cast<float>(row * 10 + column) + static_cast<float>(version) / 2;
}

// "w" by rows along tp, each part on every data rank; "bias" whole, on the first rank alone.
struct trainer {
  tk::metrics train(tk::context&, tk::batch) {
    ++version;
    return tk::metrics{}.sum("steps", 1);
  }
  tk::weights state(tk::context& ctx) {
    const std::size_t tp = ctx.rank() % 2;
    std::vector<float> part;
    for (std::size_t row = tp * rows / 2; row < (tp + 1) * rows / 2; ++row)
      for (std::size_t column = 0; column < columns; ++column)
        part.push_back(element(row, column, version));
    std::vector<tk::named_tensor> held{
        {"w", {tk::element::f32, {rows / 2, columns}, tk::buffer::of(std::move(part)), tk::shard{0, {tp * rows / 2, (tp + 1) * rows / 2}, rows}}}};
    if (ctx.rank() == 0)
      held.push_back({"bias", {tk::element::f32, {1}, tk::buffer::of(std::vector<float>{static_cast<float>(version)})}});
    return tk::weights{std::move(held)};
  }

  std::size_t version = 0;
};

// It loads "w" by columns.
struct sampler {
  tk::batch sample(tk::context&, tk::batch given) { return given; }
  void load(tk::context& ctx, tk::weights newest) {
    const tk::tensor& w = *newest.find("w");
    const tk::shard mine{1, {ctx.rank() * columns / 2, (ctx.rank() + 1) * columns / 2}, columns};
    if (w.part != mine || w.shape != std::vector<std::size_t>{rows, columns / 2})
      throw tk::error("it was given another part");
    const float* next = w.values.as<float>();
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t column = mine.held.first; column < mine.held.end; ++column)
        if (*next++ != element(row, column, newest.version()))
          throw tk::error("an element is wrong");
    if (newest.find("bias")->values.as<float>()[0] != static_cast<float>(newest.version()))
      throw tk::error("the bias is wrong");
  }
};

std::optional<std::size_t> by_columns(std::string_view name, std::span<const std::size_t>) {
  return name == "w" ? std::optional<std::size_t>(1) : std::nullopt;
}

void build(tk::graph& g) {
  const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
  auto trains = g.spawn<trainer>("trainer", {{.name = "trainers", .ranks = 4},
                                             tk::device_mesh::from_sizes({.dp_size = 2, .tp_size = 2})});
  auto samplers = g.spawn<sampler>("sampler", {{.name = "samplers", .ranks = 2},
                                               tk::device_mesh::from_sizes({.tp_size = 2})});
  g.spawn<source>("source", {host}, std::size_t{8})
      .emits(&source::next)
      .to(samplers, &sampler::sample, {.name = "sample"})
      .to(trains, &trainer::train, {.name = "train", .max_staleness = 1})
      .stop_after(5);
  trains.publishes(&trainer::state, {.after = &trainer::train})
      .to(samplers, &sampler::load, {.name = "load", .shards = tk::sharding{{"tp"}, by_columns}});
}

}  // namespace

TEST_CASE_FIXTURE(simulation, "on one node each worker loads its part of each tensor") {
  seeds(10);
  expect("all steps are trained", [](const tk::sim::seen& of) { return of.run.steps.size() == 5; });
  run(build, 1h);
}

TEST_CASE_FIXTURE(simulation, "across nodes only what a worker loads, and its node does not have, is fetched") {
  // One sampler is beside the second data rank of the trainer, which has all of "w"; the other has nothing.
  cluster({{.name = "a", .devices = 0, .cpus = 1}, {.name = "b", .devices = 2}, {.name = "c", .devices = 3},
           {.name = "d", .devices = 1}});
  latency(1ms, 5ms).inline_rows(0).seeds(20);
  expect("as many bytes as are needed", [](const tk::sim::seen& of) {
    const auto& bytes = of.run.fetched;
    const std::size_t bias = sizeof(float);
    const std::size_t loads = bytes[2] / bias;
    return loads >= 5 && bytes[0] == rows * columns * sizeof(float) + bias && bytes[1] == 0 && bytes[2] % bias == 0 &&
           bytes[3] == loads * (rows * columns / 2 * sizeof(float) + bias);
  });
  run(build, 1h);
}
