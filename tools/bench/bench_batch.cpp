// SPDX-License-Identifier: Apache-2.0
// Slicing and joining cost the same whatever lies in the rows: 1 KiB and 1 GiB in as many chunks.
#include <benchmark/benchmark.h>

#include "twinkle/data/batch.hpp"

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

constexpr std::int64_t kibibyte = std::int64_t{1} << 10;
constexpr std::int64_t gibibyte = std::int64_t{1} << 30;
BENCHMARK(slice)->Arg(kibibyte)->Arg(gibibyte);
BENCHMARK(concat)->Arg(kibibyte)->Arg(gibibyte);

}  // namespace
