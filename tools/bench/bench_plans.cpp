// SPDX-License-Identifier: Apache-2.0
// Plans are made at each step, so they have to cost nothing beside it: 100,000 rows of real lengths over 1,024 parts
// within 50 ms and 1 % of the mean; from 4,096 data ranks to 1,024 within 1 ms; who gets which rows of a batch, for
// 100,000 ranks, within 20 ns a rank.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>

#include "answer_lengths.hpp"
#include "twinkle/flow/split.hpp"
#include "twinkle/mesh/transfer_plan.hpp"

namespace {

namespace tk = twinkle;

constexpr std::size_t rows = 100'000;
constexpr std::size_t parts = 1'024;

void balance(benchmark::State& state, bool equal_counts) {
  const std::vector<std::uint64_t> costs = answer_lengths(rows);
  tk::split made;
  for ([[maybe_unused]] const auto once : state)
    benchmark::DoNotOptimize(made = tk::balance(costs, parts, {.equal_counts = equal_counts}));
  const auto total = static_cast<double>(std::accumulate(costs.begin(), costs.end(), std::uint64_t{0}));
  const auto heaviest = static_cast<double>(*std::max_element(made.costs.begin(), made.costs.end()));
  state.counters["over_mean_percent"] = 100 * (heaviest * static_cast<double>(parts) / total - 1);
}

tk::device_mesh dp(std::int64_t size) { return tk::device_mesh::from_sizes({.dp_size = size}); }

void transfers(benchmark::State& state, bool placed) {
  tk::layout source = producer_layout(dp(4'096), rows);
  tk::layout target = consumer_layout(dp(1'024), rows);
  for (std::size_t rank = 0; placed && rank < source.held.size(); ++rank)
    source.places.push_back(rank);
  for (std::size_t rank = 0; placed && rank < target.held.size(); ++rank)
    target.places.push_back(rank);
  for ([[maybe_unused]] const auto once : state)
    benchmark::DoNotOptimize(tk::plan_transfers(source, target));
}

// With the layouts, which a stage could keep.
void transfers_from_meshes(benchmark::State& state) {
  const tk::device_mesh source = dp(4'096);
  const tk::device_mesh target = dp(1'024);
  for ([[maybe_unused]] const auto once : state)
    benchmark::DoNotOptimize(plan_transfers(producer_layout(source, rows), consumer_layout(target, rows)));
}

// The rows of each rank, as a list.
void rows_of_ranks(benchmark::State& state) {
  const tk::device_mesh mesh = tk::device_mesh::from_sizes({.fsdp_size = 25, .dp_size = 250, .pp_size = 2, .tp_size = 8});
  for ([[maybe_unused]] const auto once : state)
    benchmark::DoNotOptimize(consumer_layout(mesh, 1'000'003));
  state.counters["ranks"] = static_cast<double>(mesh.world_size());
  state.counters["per_rank"] = benchmark::Counter(static_cast<double>(mesh.world_size()),
                                                  benchmark::Counter::kIsIterationInvariantRate |
                                                      benchmark::Counter::kInvert);
}

BENCHMARK(rows_of_ranks)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(balance, equal_counts, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(balance, free_counts, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(transfers, apart, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(transfers, at_places, true)->Unit(benchmark::kMillisecond);
BENCHMARK(transfers_from_meshes)->Unit(benchmark::kMillisecond);

}  // namespace
