// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/wire.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "twinkle/base/error.hpp"
#include "utf8.hpp"
#include "wire_bytes.hpp"

namespace twinkle {

using data::refuse_wire;
using data::wire_reader;

namespace {

constexpr std::string_view magic = "twinkle.";
constexpr std::uint32_t wire_version = 1;
constexpr std::size_t alignment = 8;

std::string name_of(wire_kind kind) {
  switch (kind) {
    case wire_kind::batch: return "a batch";
    case wire_kind::weights: return "weights";
    case wire_kind::metrics: return "metrics";
    case wire_kind::message: return "a message";
  }
  return "something unknown (kind " + std::to_string(static_cast<int>(kind)) + ")";
}

void check_limit(std::size_t there, std::size_t most, std::string_view what) {
  if (there > most)
    refuse_wire(std::to_string(there) + " " + std::string(what) + "; at most " + std::to_string(most) + " are taken");
}

std::size_t padded(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

}  // namespace

buffer data::aligned(buffer bytes) {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment == 0)
    return bytes;
  return buffer::of(std::vector<std::byte>(bytes.data(), bytes.data() + bytes.bytes()));
}

void data::refuse_wire(const std::string& why) { throw error("wire: " + why); }

data::wire_writer::wire_writer(wire_kind kind, std::span<const buffer> pieces) {
  for (const char letter : magic)
    number(static_cast<std::uint8_t>(letter));
  number(wire_version);
  number(static_cast<std::uint32_t>(kind));
  count(pieces.size());
  for (const buffer& piece : pieces)
    number(std::uint64_t{piece.bytes()});
}

void data::wire_writer::count(std::size_t things) { number(std::uint64_t{things}); }

void data::wire_writer::raw(std::string_view text) {
  count(text.size());
  bytes(std::as_bytes(std::span(text)));
}

void data::wire_writer::bytes(std::span<const std::byte> those) {
  bytes_.insert(bytes_.end(), those.begin(), those.end());
}

void data::wire_writer::name(std::string_view text) {
  if (!is_utf8(text))
    refuse_wire("a name that is not utf-8 cannot be sent");
  raw(text);
}

void data::nest(wire_writer& out, std::vector<buffer>& pieces, wire_form inner) {
  out.count(inner.header.bytes());
  out.bytes({inner.header.data(), inner.header.bytes()});
  for (buffer& piece : inner.pieces)
    pieces.push_back(std::move(piece));
}

std::span<const std::byte> data::wire_reader::take(std::size_t bytes) {
  if (bytes > left_.size())
    refuse_wire(std::to_string(bytes) + " bytes must follow in the header, but " + std::to_string(left_.size()) +
                " are left; it is cut off or damaged");
  const std::span<const std::byte> taken = left_.first(bytes);
  left_ = left_.subspan(bytes);
  return taken;
}

bool data::wire_reader::flag() {
  const auto value = number<std::uint8_t>();
  if (value > 1)
    refuse_wire("a flag in the header is " + std::to_string(value) + "; it must be 0 or 1");
  return value == 1;
}

std::size_t data::wire_reader::count(std::size_t bytes_least) {
  const auto things = number<std::uint64_t>();
  if (things > left_.size() / bytes_least)
    refuse_wire(std::to_string(things) + " things of " + std::to_string(bytes_least) +
                " bytes or more must follow in the header, but " + std::to_string(left_.size()) +
                " bytes are left; it is cut off or damaged");
  return things;
}

std::string data::wire_reader::raw() {
  const std::span<const std::byte> text = take(count(1));
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

std::string data::wire_reader::name(const wire_limits& limits) {
  std::string text = raw();
  check_limit(text.size(), limits.name_bytes_max, "bytes of a name");
  if (!is_utf8(text))
    refuse_wire("a name in the header is not utf-8");
  return text;
}

void data::wire_reader::done() const {
  if (!left_.empty())
    refuse_wire(std::to_string(left_.size()) + " bytes follow behind the end of the header");
}

wire_contents data::read_contents(wire_reader& in, std::size_t header_bytes, const wire_limits& limits) {
  check_limit(header_bytes, limits.header_bytes_max, "bytes of header");
  for (const char letter : magic)
    if (in.number<std::uint8_t>() != static_cast<std::uint8_t>(letter))
      refuse_wire("the bytes do not begin as a header of libtwinkle does");
  if (const auto version = in.number<std::uint32_t>(); version != wire_version)
    refuse_wire("the sender writes version " + std::to_string(version) + ", but this program reads version " +
                std::to_string(wire_version) + "; run the same binary on every node");
  const auto kind = in.number<std::uint32_t>();
  if (kind < static_cast<std::uint32_t>(wire_kind::batch) || kind > static_cast<std::uint32_t>(wire_kind::message))
    refuse_wire("there is no kind " + std::to_string(kind) + "; 1 is a batch, 2 weights, 3 metrics, 4 a message");
  const std::size_t pieces = in.count(sizeof(std::uint64_t));
  check_limit(pieces, limits.pieces_max, "pieces");
  wire_contents contents{static_cast<wire_kind>(kind), {}};
  contents.piece_bytes.reserve(pieces);
  std::size_t left = limits.payload_bytes_max;
  for (std::size_t at = 0; at < pieces; ++at) {
    const auto bytes = in.number<std::uint64_t>();
    if (bytes > left)
      refuse_wire("pieces up to number " + std::to_string(at) + " have more than the " +
                  std::to_string(limits.payload_bytes_max) + " bytes that are taken");
    left -= bytes;
    contents.piece_bytes.push_back(bytes);
  }
  return contents;
}

wire_contents contents_of(std::span<const std::byte> header, const wire_limits& limits) {
  wire_reader in{header};
  return data::read_contents(in, header.size(), limits);
}

data::wire_parts::wire_parts(const wire_form& received, wire_kind wanted, const wire_limits& limits)
    : header_({received.header.data(), received.header.bytes()}), pieces_(received.pieces) {
  const wire_contents contents = read_contents(header_, received.header.bytes(), limits);
  if (contents.kind != wanted)
    refuse_wire("the header is of " + name_of(contents.kind) + ", where " + name_of(wanted) + " must be");
  if (contents.piece_bytes.size() != pieces_.size())
    refuse_wire("the header names " + std::to_string(contents.piece_bytes.size()) + " pieces, but " +
                std::to_string(pieces_.size()) + " are there");
  for (std::size_t at = 0; at < pieces_.size(); ++at)
    if (contents.piece_bytes[at] != pieces_[at].bytes())
      refuse_wire("piece " + std::to_string(at) + " has " + std::to_string(pieces_[at].bytes()) +
                  " bytes; the header says " + std::to_string(contents.piece_bytes[at]));
}

buffer data::wire_parts::piece() {
  if (pieces_.empty())
    refuse_wire("the header describes more than the pieces that are there");
  buffer next = pieces_.front();
  pieces_ = pieces_.subspan(1);
  return next;
}

wire_form data::wire_parts::nested(const wire_limits& limits) {
  const std::span<const std::byte> header = header_.take(header_.count(1));
  const std::size_t count = contents_of(header, limits).piece_bytes.size();
  wire_form inner{{header.data(), header.size(), nullptr}, {}};
  while (inner.pieces.size() < count)
    inner.pieces.push_back(piece());
  return inner;
}

void data::wire_parts::done() const {
  header_.done();
  if (!pieces_.empty())
    refuse_wire(std::to_string(pieces_.size()) + " pieces belong to nothing");
}

namespace {

// Where a piece lies that is not here, behind the header: node, key, first byte; or that it is here.
constexpr std::size_t whereabouts_bytes = 3 * sizeof(std::uint64_t);
constexpr std::uint64_t here = ~std::uint64_t{0};

void put(data::wire_writer& into, const buffer& part) {
  constexpr std::array<std::byte, alignment> nothing{};
  into.bytes({part.data(), part.bytes()});
  into.bytes(std::span(nothing).first(padded(part.bytes()) - part.bytes()));
}

}  // namespace

// The bytes of the header and whether pieces are elsewhere, the header, where they are, the pieces that are here: each at
// a multiple of 8.
std::vector<std::byte> to_bytes(const wire_form& whole) {
  const bool all_here = std::none_of(whole.pieces.begin(), whole.pieces.end(),
                                     [](const buffer& piece) { return piece.far() != nullptr; });
  std::size_t size = 2 * sizeof(std::uint64_t) + padded(whole.header.bytes());
  for (const buffer& piece : whole.pieces)
    size += (all_here ? 0 : whereabouts_bytes) + (piece.far() != nullptr ? 0 : padded(piece.bytes()));
  data::wire_writer out;
  out.reserve(size);
  out.count(whole.header.bytes());
  out.number(std::uint64_t{all_here ? 0U : 1U});
  put(out, whole.header);
  if (!all_here)
    for (const buffer& piece : whole.pieces) {
      const far_bytes* far = piece.far();
      out.number(far == nullptr ? here : std::uint64_t{far->node});
      out.number(far == nullptr ? std::uint64_t{0} : far->key);
      out.number(far == nullptr ? std::uint64_t{0} : std::uint64_t{piece.first()});
    }
  for (const buffer& piece : whole.pieces)
    if (piece.far() == nullptr)
      put(out, piece);
  return std::move(out).all();
}

wire_form from_bytes(buffer bytes, const wire_limits& limits, const far_owner& own) {
  const buffer all = data::aligned(std::move(bytes));
  std::size_t at = 0;
  const auto take = [&](std::size_t size) {
    if (size > all.bytes() - at || padded(size) > all.bytes() - at)
      refuse_wire(std::to_string(size) + " bytes must follow byte " + std::to_string(at) + " of a message of " +
                  std::to_string(all.bytes()) + "; it is cut off or damaged");
    buffer taken = all.part(at, size);
    at += padded(size);
    return taken;
  };
  const buffer lengths = take(2 * sizeof(std::uint64_t));
  wire_reader in{{lengths.data(), lengths.bytes()}};
  const auto header_bytes = in.number<std::uint64_t>();
  const auto elsewhere = in.number<std::uint64_t>();
  if (elsewhere > 1 || (elsewhere == 1 && !own))
    refuse_wire(elsewhere > 1 ? "a flag is " + std::to_string(elsewhere) + "; it must be 0 or 1"
                              : "pieces are said to lie on another node, where all must be here");
  wire_form whole;
  whole.header = take(header_bytes);
  const wire_contents contents = contents_of({whole.header.data(), whole.header.bytes()}, limits);
  std::vector<wire_reader> where;
  for (std::size_t piece = 0; elsewhere == 1 && piece < contents.piece_bytes.size(); ++piece) {
    const buffer next = take(whereabouts_bytes);
    where.emplace_back(std::span{next.data(), next.bytes()});
  }
  for (std::size_t piece = 0; piece < contents.piece_bytes.size(); ++piece) {
    const std::uint64_t node = elsewhere == 1 ? where[piece].number<std::uint64_t>() : here;
    if (node == here) {
      whole.pieces.push_back(take(contents.piece_bytes[piece]));
      continue;
    }
    const auto key = where[piece].number<std::uint64_t>();
    const auto first = where[piece].number<std::uint64_t>();
    whole.pieces.emplace_back(own(far_bytes{node, key}), first, contents.piece_bytes[piece]);
  }
  if (at != all.bytes())
    refuse_wire(std::to_string(all.bytes() - at) + " bytes follow behind the end of the message");
  return whole;
}

}  // namespace twinkle
