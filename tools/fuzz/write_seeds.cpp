// SPDX-License-Identifier: Apache-2.0
// write_seeds FOLDER: the binary seeds of the fuzzers, a few hundred bytes each. Those of JSONL are text and are
// written by hand.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "twinkle/data/frame.hpp"
#include "twinkle/data/safetensors.hpp"
#include "twinkle/data/wire.hpp"
#include "twinkle/flow/hall_letter.hpp"
#include "twinkle/flow/message_wire.hpp"
#include "twinkle/place/node_letter.hpp"
#include "wire_endpoints.hpp"

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

// A call of several batches, and what goes back.
std::map<std::string, twinkle::message> some_messages() {
  namespace msg = twinkle::msg;
  using chosen = std::tuple<batch, fuzz::node, batch, fuzz::names>;
  const fuzz::node grown{1, "a", {{-0.5, std::nullopt, {}}, {2, "", {}}}};
  const chosen others{{}, grown, {}, {{"x", fuzz::mood::calm}, {"y", fuzz::mood::loud}}};
  const twinkle::arguments given{{dense_rows(), dense_rows()}, others};
  msg::task task{1, msg::task::kind::run, fuzz::choose_at, 3, given};
  task.micro_batches = std::make_shared<const std::vector<twinkle::micro_batch>>(1, twinkle::micro_batch{{0, 1}});
  using wanted = std::tuple<std::vector<std::tuple<>>, metrics, std::vector<bool>>;
  const wanted searched{std::vector<std::tuple<>>(2), metrics{}.sum("s", 2), {true}};
  const fuzz::found got{{ragged_rows()}, {{-1, some_weights()}, {2, std::nullopt}}};
  msg::task gather = task;
  gather.what = msg::task::kind::gather;
  msg::task gathered{2, msg::task::kind::run, fuzz::choose_at};
  gathered.gathered = 1;
  return {{"task", task},
          {"gather", gather},
          {"gathered", gathered},
          {"search", msg::task{2, msg::task::kind::run, fuzz::find_at, 0, twinkle::arguments{{}, searched}}},
          {"cancel", msg::cancel{7, {"here", "sample", twinkle::interval{0, 2}, "no"}}},
          {"abandon", msg::abandon{}},
          {"value", msg::reply{1, 2, twinkle::payload{twinkle::value{grown}}}},
          {"found", msg::reply{1, 2, twinkle::payload{twinkle::value{got}}}},
          {"rows", msg::emitted{0, 4, tagged_chunks()}}};
}

// As many values as its first byte says, and its head.
std::vector<std::byte> some_letter(bool one_way) {
  twinkle::hall_letter letter{{3, {2, 5}, 1, one_way}, twinkle::hall_letter::kind::sum, 1, {8, 20}, {}, "of 9 f32"};
  std::vector<std::byte> bytes{std::byte{12}};
  const std::vector<std::byte> head = head_of(letter);
  bytes.insert(bytes.end(), head.begin(), head.end());
  return bytes;
}

std::vector<std::byte> frame(twinkle::frame_header header, const std::vector<std::byte>& head, std::size_t body = 0) {
  header.head_bytes = head.size();
  header.body_bytes = body;
  const auto first = to_bytes(header);
  std::vector<std::byte> bytes(first.begin(), first.end());
  bytes.insert(bytes.end(), head.begin(), head.end());
  bytes.resize(bytes.size() + body);
  return bytes;
}

void write(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void write_frames(const std::filesystem::path& folder) {
  using twinkle::frame_kind;
  write(folder / "hello", frame({.kind = frame_kind::hello}, to_bytes(twinkle::greeting{"dev", 1, 2, 3})));
  const std::vector<twinkle::bulk_range> ranges{{1, 0, 10}, {2, 5, 20}};
  write(folder / "fetch", frame({.kind = frame_kind::fetch, .id = 4}, twinkle::to_bytes(ranges)));
  write(folder / "data", frame({.kind = frame_kind::data, .id = 4, .offset = 16}, {}, 14));
  write(folder / "message", frame({.kind = frame_kind::message, .checked = true}, std::vector<std::byte>(3), 9));
  write(folder / "cancel", frame({.kind = frame_kind::cancel, .id = 4}, {}));
}

void write_node_letters(const std::filesystem::path& folder) {
  namespace letter = twinkle::place::letter;
  using twinkle::address;
  using twinkle::place::to_bytes;
  write(folder / "hello", to_bytes(letter::hello{letter::protocol, "lab", 42, "b", 7, "127.0.0.1", 7070}));
  write(folder / "nodes", to_bytes(letter::nodes{{{"127.0.0.1", 7070, 1}, {"", 0, 0}}}));
  write(folder / "post", to_bytes(letter::post{address::router(3), address::worker(3, 9), {}}));
  write(folder / "release", to_bytes(letter::release{{1, 2, 3}}));
  write(folder / "unreachable", to_bytes(letter::unreachable{2, 77, "why"}));
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
  const auto endpoints = fuzz::endpoints();
  for (const auto& [name, content] : some_messages())
    write(folder / "message" / name, to_bytes(to_wire(content, endpoints)));
  write_frames(folder / "frame");
  write_node_letters(folder / "node");
  write(folder / "safetensors/some", to_safetensors(some_weights()));
  write(folder / "safetensors/none", to_safetensors(weights{}));
  write(folder / "letter/collective", some_letter(false));
  write(folder / "letter/one_way", some_letter(true));
}
