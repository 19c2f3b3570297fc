// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/wire.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/rows.hpp"
#include "data/wire_bytes.hpp"
#include "twinkle/base/error.hpp"

using rows::content_of;
using rows::numbered;
using twinkle::batch;
using twinkle::buffer;
using twinkle::column_type;
using twinkle::element;
using twinkle::from_bytes;
using twinkle::from_wire;
using twinkle::metrics;
using twinkle::shard;
using twinkle::to_bytes;
using twinkle::to_wire;
using twinkle::weights;
using twinkle::wire_form;
using twinkle::wire_kind;
using twinkle::wire_limits;
using twinkle::data::wire_writer;
using bytes = std::vector<std::byte>;

namespace {

constexpr auto dense = column_type::form::dense;
constexpr auto ragged = column_type::form::ragged;

// Columns of every form, two chunks, children, padding, tombstones between them.
batch many_sided() {
  batch first = numbered(3).with(twinkle::column<std::uint8_t>{"flag"}, {1, 0, 1});
  first = first.with(twinkle::ragged<double>{"probs"}, {{0.5}, {}, {-0.0, 1e300}});
  first = first.with(twinkle::column<std::int32_t>{"none", {0}}, {});
  std::vector<twinkle::row_tag> tags(first.tags().begin(), first.tags().end());
  tags[1].id = child_of(child_of(tags[1].id, 2, 3), 0, 1);
  tags[1].version = 9;
  tags[2].padding = true;
  first = first.with_tags(tags).drop(std::vector<std::size_t>{0}, "too long");
  return batch::concat({{first, first[{1, 2}]}}).with_tombstone({tags[1], "lost with its worker"});
}

template <class T>
std::string complaint(const wire_form& received, const wire_limits& limits = {}) {
  try {
    (void)from_wire<T>(received, limits);
  } catch (const twinkle::error& bad) {
    return bad.what();
  }
  return "nothing";
}

// Of a batch of one column, whatever its bytes.
struct header_parts {
  std::string name = "c";
  column_type::form kind = dense;
  bool routed = false;
  int type = static_cast<int>(element::i32);
  std::vector<std::uint32_t> shape = {};
  std::uint64_t rows = 2;
  std::vector<std::uint64_t> chunks = {2};
  int columns = 1;
};

wire_form made_of(const header_parts& of, std::vector<buffer> pieces) {
  wire_writer out{wire_kind::batch, pieces};
  out.number(of.rows);
  out.count(static_cast<std::size_t>(of.columns));
  for (int column = 0; column < of.columns; ++column) {
    out.raw(of.name);
    out.number(static_cast<std::uint8_t>(static_cast<int>(of.kind) + (of.routed ? 0x80 : 0)));
    out.number(static_cast<std::uint8_t>(of.type));
    out.number(static_cast<std::uint8_t>(of.shape.size()));
    for (const std::uint32_t size : of.shape)
      out.number(size);
    out.count(of.chunks.size());
    for (const std::uint64_t chunk : of.chunks)
      out.number(chunk);
  }
  out.number(std::uint8_t{0});
  out.count(0);
  return {std::move(out).written(), std::move(pieces)};
}

buffer numbers(std::vector<std::int32_t> values) { return buffer::of(std::move(values)); }
buffer offsets(std::vector<std::uint64_t> values) { return buffer::of(std::move(values)); }

// The whole, copied, with another byte at one place.
buffer with_byte(const buffer& from, std::size_t at, std::byte value) {
  bytes copy(from.data(), from.data() + from.bytes());
  copy[at] = value;
  return buffer::of(std::move(copy));
}

}  // namespace

TEST_CASE("a batch of every kind of column arrives as it was sent, by pieces and in one") {
  const batch sent = many_sided();
  const wire_form form = to_wire(sent);
  for (const batch& received : {from_wire<batch>(form), from_wire<batch>(from_bytes(buffer::of(to_bytes(form))))}) {
    CHECK(content_of(received) == content_of(sent));
    CHECK(received.names() == sent.names());
    for (const std::string& name : sent.names())
      CHECK(received.type(name) == sent.type(name));
    CHECK(received[twinkle::ragged<double>{"probs"}][1][1] == 1e300);
    CHECK(received[twinkle::column<std::uint8_t>{"flag"}][1] == 1);
    CHECK(to_bytes(to_wire(received)) == to_bytes(form));
  }
  CHECK(content_of(from_wire<batch>(to_wire(batch{}))) == content_of(batch{}));
}

TEST_CASE("the pieces of a batch are its own memory, and what arrives borrows them") {
  const batch sent = numbered(4);
  const wire_form form = to_wire(sent);
  REQUIRE(form.pieces.size() == 6);  // score, point, offsets and tokens, offsets and line
  CHECK(form.pieces[0].as<float>() == sent[rows::score].values().data());
  CHECK(form.pieces[1].as<std::int64_t>() == sent[rows::point].values().data());
  CHECK(form.pieces[3].as<std::int32_t>() == sent[rows::tokens][0].data());
  CHECK(form.pieces[5].as<char>() == sent[rows::line][0].data());
  const batch received = from_wire<batch>(form);
  CHECK(received[rows::score].values().data() == form.pieces[0].as<float>());
  CHECK(received[rows::line][0].data() == form.pieces[5].as<char>());
}

TEST_CASE("the pieces keep alive what they point to") {
  std::optional<batch> sent = numbered(4);
  const wire_form form = to_wire(*sent);
  const auto before = content_of(*sent);
  sent.reset();
  CHECK(content_of(from_wire<batch>(form)) == before);
}

TEST_CASE("a slice sends its own rows only, and copies nothing but offsets") {
  const batch sent = numbered(100);
  const wire_form form = to_wire(sent[{41, 44}]);
  CHECK(form.pieces[0].bytes() == 3 * sizeof(float));
  CHECK(form.pieces[2].bytes() == 4 * sizeof(std::uint64_t));
  CHECK(form.pieces[2].as<std::uint64_t>()[0] == 0);
  CHECK(form.pieces[3].bytes() == (2 + 0 + 1) * sizeof(std::int32_t));
  CHECK(form.pieces[3].as<std::int32_t>() == sent[rows::tokens][41].data());
  CHECK(form.header.bytes() < 400);
  CHECK(content_of(from_wire<batch>(form)) == content_of(sent[{41, 44}]));
}

TEST_CASE("the chunks of a batch stay several pieces") {
  const batch sent = batch::concat({{numbered(2), numbered(3, 2)}});
  const wire_form form = to_wire(sent);
  CHECK(form.pieces.size() == 12);
  CHECK(form.pieces[0].bytes() == 2 * sizeof(float));
  CHECK(form.pieces[1].bytes() == 3 * sizeof(float));
  const wire_form again = to_wire(from_wire<batch>(form));
  REQUIRE(again.pieces.size() == 12);
  for (std::size_t at = 0; at < 12; ++at)
    CHECK(again.pieces[at].data() == form.pieces[at].data());
}

TEST_CASE("a header says what has to be received before it is there") {
  const wire_form form = to_wire(numbered(3));
  const auto contents = twinkle::contents_of({form.header.data(), form.header.bytes()});
  CHECK(contents.kind == wire_kind::batch);
  REQUIRE(contents.piece_bytes.size() == form.pieces.size());
  for (std::size_t at = 0; at < form.pieces.size(); ++at)
    CHECK(contents.piece_bytes[at] == form.pieces[at].bytes());
}

TEST_CASE("weights arrive with their shards and version, and borrow") {
  const weights sent{{{"w", {element::f32, {1, 2}, buffer::of(std::vector<float>{1, 2}), shard{0, {3, 4}, 8}}},
                      {"w", {element::f32, {1, 2}, buffer::of(std::vector<float>{5, 6}), shard{0, {4, 5}, 8}}},
                      {"none", {element::i64, {0, 7}, buffer{}}},
                      {"step", {element::u8, {}, buffer::of(std::vector<std::uint8_t>{7})}}},
                     12};
  const wire_form form = to_wire(sent);
  const auto received = from_wire<weights>(form);
  CHECK(received.version() == 12);
  REQUIRE(received.tensors().size() == 4);
  for (std::size_t at = 0; at < 4; ++at) {
    const auto& [name, value] = sent.tensors()[at];
    CHECK(received.tensors()[at].name == name);
    CHECK(received.tensors()[at].value.type == value.type);
    CHECK(received.tensors()[at].value.shape == value.shape);
    CHECK(received.tensors()[at].value.part == value.part);
    CHECK(received.tensors()[at].value.values.data() == value.values.data());
  }
  CHECK(complaint<batch>(form) == "wire: the header is of weights, where a batch must be");
  CHECK_THROWS_WITH_AS((void)to_wire(weights{{{"w", {element::f32, {2}, buffer{}}}}}),
                       "weights: tensor 'w' of f32[2] has 0 bytes, which do not fit its shape", twinkle::error);
}

TEST_CASE("metrics arrive with their rules, weights and bits") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const metrics sent = metrics{}.mean("loss", -0.0, 3).mean("reward", nan).sum("tokens", 1e300).max("length", 7);
  const auto received = from_wire<metrics>(from_bytes(buffer::of(to_bytes(to_wire(sent)))));
  REQUIRE(received.items().size() == 4);
  for (std::size_t at = 0; at < 4; ++at) {
    CHECK(received.items()[at].name == sent.items()[at].name);
    CHECK(std::bit_cast<std::uint64_t>(received.items()[at].value) ==
          std::bit_cast<std::uint64_t>(sent.items()[at].value));
    CHECK(received.items()[at].weight == sent.items()[at].weight);
    CHECK(received.items()[at].how == sent.items()[at].how);
  }
}

TEST_CASE("one message is borrowed where it lies at a multiple of 8 bytes, else copied") {
  const batch sent = numbered(3);
  const bytes message = to_bytes(to_wire(sent));
  const auto lies_in = [&](const bytes& whole, const batch& received) {
    const auto* at = reinterpret_cast<const std::byte*>(received[rows::score].values().data());
    return whole.data() <= at && at < whole.data() + whole.size();
  };
  CHECK(lies_in(message, from_wire<batch>(from_bytes({message.data(), message.size(), nullptr}))));
  bytes shifted(message.size() + 1);
  std::memcpy(shifted.data() + 1, message.data(), message.size());
  const auto received = from_wire<batch>(from_bytes({shifted.data() + 1, message.size(), nullptr}));
  CHECK_FALSE(lies_in(shifted, received));
  CHECK(content_of(received) == content_of(sent));
}

TEST_CASE("what is no header of ours, or of another version, is refused by name") {
  wire_form form = to_wire(numbered(1));
  const buffer good = form.header;
  form.header = with_byte(good, 0, std::byte{'T'});
  CHECK(complaint<batch>(form) == "wire: the bytes do not begin as a header of libtwinkle does");
  form.header = with_byte(good, 8, std::byte{2});
  CHECK(complaint<batch>(form) ==
        "wire: the sender writes version 2, but this program reads version 1; run the same binary on every node");
  form.header = with_byte(good, 12, std::byte{9});
  CHECK(complaint<batch>(form) == "wire: there is no kind 9; 1 is a batch, 2 weights, 3 metrics, 4 a message");
  form.header = good.part(0, good.bytes() - 1);
  CHECK(complaint<batch>(form) ==
        "wire: 8 bytes must follow in the header, but 7 are left; it is cut off or damaged");
}

TEST_CASE("columns that contradict themselves are refused") {
  const buffer two = numbers({1, 2});
  CHECK(complaint<batch>(made_of({}, {two})) == "nothing");
  CHECK(complaint<batch>(made_of({.name = "\xff"}, {two})) == "wire: a name in the header is not utf-8");
  CHECK(complaint<batch>(made_of({.columns = 2}, {two, two})) == "wire: column 'c' is there twice");
  CHECK(complaint<batch>(made_of({.type = 5}, {two})) ==
        "wire: column 'c' has a type that there is not: form 0 of element 5 with 0 dimensions");
  CHECK(complaint<batch>(made_of({.shape = {1, 1, 1, 1, 1}}, {two})) ==
        "wire: column 'c' has a type that there is not: form 0 of element 1 with 5 dimensions");
  CHECK(complaint<batch>(made_of({.shape = {1U << 31, 1U << 31, 4}}, {buffer{}})) ==
        "wire: column 'c': rows of i32[2147483648,2147483648,4] are too large");
  CHECK(complaint<batch>(made_of({.chunks = {3}}, {two})) ==
        "wire: column 'c' has a chunk of 3 rows where 2 of 2 are left");
  CHECK(complaint<batch>(made_of({.chunks = {0, 2}}, {two, two})) ==
        "wire: column 'c' has a chunk of 0 rows where 2 of 2 are left");
  CHECK(complaint<batch>(made_of({.chunks = {1}}, {numbers({1})})) == "wire: column 'c' lacks 1 of 2 rows");
  CHECK(complaint<batch>(made_of({}, {numbers({1, 2, 3})})) ==
        "wire: column 'c' (i32) has 12 bytes, but there are 2 rows of 4");
  CHECK(complaint<batch>(made_of({}, {})) == "wire: the header describes more than the pieces that are there");
  CHECK(complaint<batch>(made_of({}, {two, two})) == "wire: 1 pieces belong to nothing");
}

TEST_CASE("offsets that leave their elements are refused") {
  const auto of = [](const std::vector<std::uint64_t>& at) {
    return complaint<batch>(made_of({.kind = ragged}, {offsets(at), numbers({1, 2, 3})}));
  };
  CHECK(of({0, 1, 3}) == "nothing");
  CHECK(of({0, 4, 3}) == "wire: column 'c': offset 2 falls from 4 to 3");
  CHECK(of({0, 1, 4}) == "wire: column 'c': offsets 0..4 do not lie in the 3 elements");
  CHECK(of({1, 1, 3}) == "wire: column 'c': offsets 1..3 do not lie in the 3 elements");
  CHECK(of({0, 1, 2}) == "wire: column 'c' has 12 bytes of elements, but its offsets end at element 2");
  CHECK(of({0, 3}) == "wire: column 'c': 2 offsets for 2 rows; there must be one more than rows");
}

TEST_CASE("a piece that is not aligned cannot be borrowed, and is refused") {
  const buffer three = numbers({1, 2, 3});
  CHECK(complaint<batch>(made_of({}, {three.part(2, 8)})) ==
        "wire: column 'c': its buffer does not start at a multiple of 4 bytes; copy it");
}

TEST_CASE("identities that cannot be are refused on both sides") {
  std::vector<twinkle::row_tag> tags(1);
  tags[0].id = child_of(tags[0].id, 3, 2);
  CHECK_THROWS_WITH_AS((void)to_wire(numbered(1).with_tags(tags)), "wire: row 0:0/3 is child 3 of 2", twinkle::error);
  tags[0].id.depth = 4;
  CHECK_THROWS_WITH_AS((void)to_wire(numbered(1).with_tags(tags)), "wire: a row lies 4 expansions deep; 3 are the most",
                       twinkle::error);
}

TEST_CASE("what is beyond a limit is refused, naming both numbers") {
  const wire_form form = to_wire(numbered(3));
  const std::string header = std::to_string(form.header.bytes());
  CHECK(complaint<batch>(form, {.header_bytes_max = 9}) == "wire: " + header + " bytes of header; at most 9 are taken");
  CHECK(complaint<batch>(form, {.payload_bytes_max = 20}) ==
        "wire: pieces up to number 1 have more than the 20 bytes that are taken");
  CHECK(complaint<batch>(form, {.pieces_max = 5}) == "wire: 6 pieces; at most 5 are taken");
  CHECK(complaint<batch>(form, {.rows_max = 2}) == "wire: 3 rows; at most 2 are taken");
  CHECK(complaint<batch>(form, {.columns_max = 3}) == "wire: 4 columns; at most 3 are taken");
  CHECK(complaint<batch>(form, {.name_bytes_max = 4}) == "wire: 5 bytes of a name; at most 4 are taken");
}

TEST_CASE("a length that nothing stands behind allocates nothing") {
  wire_writer out{wire_kind::batch, {}};
  out.number(std::uint64_t{1});
  out.count(0);
  out.number(std::uint8_t{1});
  out.count(std::numeric_limits<std::size_t>::max());
  CHECK(complaint<batch>({std::move(out).written(), {}}) ==
        "wire: 18446744073709551615 things of 22 bytes or more must follow in the header, but 0 bytes are left; it is "
        "cut off or damaged");
}

TEST_CASE("a column says on the wire whether it is routed, and only small dense ones can be") {
  constexpr auto cost = twinkle::routed(twinkle::column<std::int32_t>{"cost"});
  const batch arrived = from_wire<batch>(to_wire(batch{}.with(cost, {1, 2})));
  CHECK(arrived.type("cost").routed);
  const buffer two = numbers({1, 2});
  CHECK(complaint<batch>(made_of({.routed = true}, {two})) == "nothing");
  CHECK(complaint<batch>(made_of({.kind = ragged, .routed = true}, {offsets({0, 1, 2}), two})) ==
        "wire: column 'c' is said to be routed, but is ragged i32; only columns of at most 64 bytes a row are");
  CHECK(complaint<batch>(made_of({.routed = true, .shape = {17}}, {buffer{}})) ==
        "wire: column 'c' is said to be routed, but is i32[17]; only columns of at most 64 bytes a row are");
}
