// SPDX-License-Identifier: Apache-2.0
// write_seeds FOLDER: the binary seeds of the fuzzers, a few hundred bytes each. Those of JSONL are text and are
// written by hand.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

#include "twinkle/data/safetensors.hpp"
#include "twinkle/data/wire.hpp"

using twinkle::batch;
using twinkle::buffer;
using twinkle::column;
using twinkle::element;
using twinkle::metrics;
using twinkle::ragged;
using twinkle::row_tag;
using twinkle::text;
using twinkle::to_bytes;
using twinkle::to_wire;
using twinkle::weights;

namespace {

batch dense_rows() {
  return batch{}
      .with(column<float>{"f"}, {0.5F, -1})
      .with(column<std::int64_t>{"i", {2}}, {1, 2, 3, 4})
      .with(column<std::uint8_t>{"none", {0}}, {});
}

batch ragged_rows() {
  return batch{}.with(ragged<std::int32_t>{"r"}, {{7}, {}, {8, 9}}).with(text{"t"}, {"a", "", "é"});
}

batch tagged_chunks() {
  std::vector<row_tag> tags(2);
  tags[1].id.sequence = 1;
  const batch two = ragged_rows()[{1, 3}].with_tags(tags).expand(std::vector<std::size_t>{0, 1, 1});
  return batch::concat({{two, two.drop(std::vector<std::size_t>{1}, "bad")}});
}

weights some_weights() {
  return weights{{{"b", {element::u8, {3}, buffer::of(std::vector<std::uint8_t>{1, 2, 3})}},
                  {"w", {element::f32, {1, 2}, buffer::of(std::vector<float>{1, 2})}},
                  {"n", {element::f64, {0, 4}, buffer{}}}},
                 12};
}

weights some_shards() {
  const twinkle::shard part{0, {3, 4}, 8};
  return weights{{{"w", {element::f32, {1, 2}, buffer::of(std::vector<float>{1, 2}), part}}}, 1};
}

void write(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2)
    return 2;
  const std::filesystem::path folder = argv[1];
  write(folder / "wire/empty", to_bytes(to_wire(batch{})));
  write(folder / "wire/dense", to_bytes(to_wire(dense_rows())));
  write(folder / "wire/ragged", to_bytes(to_wire(ragged_rows())));
  write(folder / "wire/chunks", to_bytes(to_wire(tagged_chunks())));
  write(folder / "wire/weights", to_bytes(to_wire(some_weights())));
  write(folder / "wire/shards", to_bytes(to_wire(some_shards())));
  write(folder / "wire/metrics", to_bytes(to_wire(metrics{}.mean("m", 0.5, 3).mean("n", 1).sum("s", 2).max("x", 3))));
  write(folder / "safetensors/some", to_safetensors(some_weights()));
  write(folder / "safetensors/none", to_safetensors(weights{}));
}
