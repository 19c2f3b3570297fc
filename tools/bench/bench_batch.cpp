// SPDX-License-Identifier: Apache-2.0
// Slicing and joining cost the same whatever lies in the rows: 1 KiB and 1 GiB in as many chunks. No element is copied:
// what is allocated is counted.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include "twinkle/data/batch.hpp"
#include "twinkle/mesh/device_mesh.hpp"

namespace {

namespace tk = twinkle;

constexpr tk::column<std::uint8_t> bytes{"bytes"};
constexpr std::size_t chunks = 16;

tk::batch batch_of(std::size_t size) {
  std::vector<tk::batch> parts;
  for (std::size_t part = 0; part < chunks; ++part)
    parts.push_back(tk::batch{}.with(bytes, std::vector<std::uint8_t>(size / chunks)));
  return tk::batch::concat(parts);
}

void slice(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const tk::batch whole = batch_of(size);
  for ([[maybe_unused]] const auto once : state)
    benchmark::DoNotOptimize(whole[tk::interval{size / 5, size / 2}]);
}

void concat(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const tk::batch whole = batch_of(size);
  const std::vector<tk::batch> parts{whole[tk::interval{0, size / 5}], whole[tk::interval{size / 2, size}]};
  for ([[maybe_unused]] const auto once : state)
    benchmark::DoNotOptimize(tk::batch::concat(parts));
}

// The rows of 16 producers, joined, and cut for 4 consumers.
void redistribute(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const tk::batch whole = batch_of(size);
  const tk::device_mesh producers = tk::device_mesh::from_sizes({.dp_size = 16});
  const tk::device_mesh consumers = tk::device_mesh::from_sizes({.dp_size = 4});
  std::vector<tk::batch> made;
  for (const tk::interval& each : producers.slices(whole.rows()))
    made.push_back(whole[each]);
  std::vector<tk::batch> given(consumers.data_ranks());
  const auto redistributed = [&] {
    const tk::batch joined = tk::batch::concat(made);
    for (std::size_t rank = 0; rank < given.size(); ++rank)
      given[rank] = joined[consumers.get_slice(joined.rows(), rank)];
  };
  const auto in_use = [] {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  const std::size_t before = in_use();
  redistributed();
  state.counters["allocated"] = static_cast<double>(in_use() - before);
  for ([[maybe_unused]] const auto once : state)
    redistributed();
}

constexpr std::int64_t kibibyte = std::int64_t{1} << 10;
constexpr std::int64_t gibibyte = std::int64_t{1} << 30;
BENCHMARK(slice)->Arg(kibibyte)->Arg(gibibyte);
BENCHMARK(concat)->Arg(kibibyte)->Arg(gibibyte);
BENCHMARK(redistribute)->Arg(kibibyte)->Arg(gibibyte);

}  // namespace
