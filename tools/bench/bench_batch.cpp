// SPDX-License-Identifier: Apache-2.0
// Slicing and joining cost the same whatever lies in the rows: 1 KiB and 1 GiB in as many chunks. No element is copied:
// what is allocated is counted.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "twinkle/data/batch.hpp"
#include "twinkle/mesh/device_mesh.hpp"

namespace {

std::atomic<std::size_t> allocated{0};

}  // namespace

void* operator new(std::size_t size) {
  allocated += size;
  if (void* got = std::malloc(size))
    return got;
  throw std::bad_alloc();
}
void operator delete(void* what) noexcept { std::free(what); }
void operator delete(void* what, std::size_t) noexcept { std::free(what); }

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
  std::size_t before = allocated;
  for ([[maybe_unused]] const auto once : state) {
    const tk::batch joined = tk::batch::concat(made);
    for (const tk::interval& each : consumers.slices(joined.rows()))
      benchmark::DoNotOptimize(joined[each]);
  }
  state.counters["allocated"] =
      static_cast<double>(allocated - before) / static_cast<double>(state.iterations());
}

constexpr std::int64_t kibibyte = std::int64_t{1} << 10;
constexpr std::int64_t gibibyte = std::int64_t{1} << 30;
BENCHMARK(slice)->Arg(kibibyte)->Arg(gibibyte);
BENCHMARK(concat)->Arg(kibibyte)->Arg(gibibyte);
BENCHMARK(redistribute)->Arg(kibibyte)->Arg(gibibyte);

}  // namespace
