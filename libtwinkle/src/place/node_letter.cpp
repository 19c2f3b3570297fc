// SPDX-License-Identifier: Apache-2.0
#include "twinkle/place/node_letter.hpp"

#include <utility>

#include "data/wire_bytes.hpp"

namespace twinkle::place {

using data::refuse_wire;
using data::wire_reader;
using data::wire_writer;

namespace {

void write(wire_writer& out, const address& who) {
  out.number(static_cast<std::uint32_t>(who.stage));
  out.number(static_cast<std::uint32_t>(who.index));
}

address read_address(wire_reader& in) {
  const auto stage = static_cast<std::int32_t>(in.number<std::uint32_t>());
  const auto index = static_cast<std::int32_t>(in.number<std::uint32_t>());
  return {0, stage, index};
}

struct writer {
  wire_writer& out;

  void operator()(const letter::hello& of) {
    out.number(of.version);
    out.raw(of.cluster);
    out.number(of.graph);
    out.raw(of.node);
    out.number(of.incarnation);
    out.raw(of.host);
    out.number(of.port);
  }
  void operator()(const letter::refused& of) { out.raw(of.why); }
  void operator()(const letter::nodes& of) {
    out.count(of.all.size());
    for (const letter::nodes::node& each : of.all) {
      out.raw(each.host);
      out.number(each.port);
      out.number(each.incarnation);
    }
  }
  void operator()(const letter::post& of) {
    write(out, of.from);
    write(out, of.to);
  }
  void operator()(const letter::spawn& of) { write(out, of.who); }
  void operator()(const letter::release& of) {
    out.count(of.keys.size());
    for (const std::uint64_t key : of.keys)
      out.number(key);
  }
  void operator()(const letter::unreachable& of) {
    out.number(of.node);
    out.number(of.incarnation);
    out.raw(of.why);
  }
  void operator()(const letter::goodbye& of) { out.number(static_cast<std::uint32_t>(of.code)); }
  void operator()(const letter::ping&) {}
  void operator()(const letter::interrupt&) {}
};

letter::hello read_hello(wire_reader& in) {
  letter::hello of;
  of.version = in.number<std::uint32_t>();
  of.cluster = in.raw();
  of.graph = in.number<std::uint64_t>();
  of.node = in.raw();
  of.incarnation = in.number<std::uint64_t>();
  of.host = in.raw();
  of.port = in.number<std::uint16_t>();
  return of;
}

letter::nodes read_nodes(wire_reader& in) {
  constexpr std::size_t bytes_least = 8 + 2 + 8;
  letter::nodes of;
  const std::size_t count = in.count(bytes_least);
  of.all.reserve(count);
  while (of.all.size() < count) {
    letter::nodes::node next;
    next.host = in.raw();
    next.port = in.number<std::uint16_t>();
    next.incarnation = in.number<std::uint64_t>();
    of.all.push_back(std::move(next));
  }
  return of;
}

letter::unreachable read_unreachable(wire_reader& in) {
  letter::unreachable of;
  of.node = in.number<std::uint32_t>();
  of.incarnation = in.number<std::uint64_t>();
  of.why = in.raw();
  return of;
}

letter::release read_release(wire_reader& in) {
  letter::release of;
  const std::size_t count = in.count(sizeof(std::uint64_t));
  of.keys.reserve(count);
  while (of.keys.size() < count)
    of.keys.push_back(in.number<std::uint64_t>());
  return of;
}

// Messages are read in place, so that they have to start at a multiple of 8 bytes: kind and two addresses, padded.
constexpr std::size_t post_header_bytes = 24;
constexpr std::size_t post_padding_bytes = post_header_bytes - 1 - 4 * sizeof(std::uint32_t);

letter::post read_post(wire_reader& in, const buffer& bytes) {
  letter::post of;
  of.from = read_address(in);
  of.to = read_address(in);
  if (bytes.bytes() < post_header_bytes)
    refuse_wire("a message between nodes of " + std::to_string(bytes.bytes()) + " bytes; it is cut off or damaged");
  of.bytes = bytes.part(post_header_bytes, bytes.bytes() - post_header_bytes);
  return of;
}

node_letter read(std::uint8_t kind, wire_reader& in) {
  switch (kind) {
    case 0: return read_hello(in);
    case 1: return letter::refused{in.raw()};
    case 2: return read_nodes(in);
    case 3: return letter::ping{};
    case 5: return letter::spawn{read_address(in)};
    case 6: return read_release(in);
    case 7: return letter::interrupt{};
    case 8: return read_unreachable(in);
    case 9: return letter::goodbye{static_cast<std::int32_t>(in.number<std::uint32_t>())};
    default: refuse_wire("there is no kind " + std::to_string(kind) + " of letters between nodes");
  }
}

constexpr std::uint8_t post_kind = 4;

}  // namespace

std::vector<std::byte> to_bytes(const node_letter& what) {
  wire_writer out;
  out.number(static_cast<std::uint8_t>(what.index()));
  std::visit(writer{out}, what);
  const auto* post = std::get_if<letter::post>(&what);
  for (std::size_t at = 0; post != nullptr && at < post_padding_bytes; ++at)
    out.number(std::uint8_t{0});
  std::vector<std::byte> bytes = std::move(out).all();
  if (post != nullptr)
    bytes.insert(bytes.end(), post->bytes.data(), post->bytes.data() + post->bytes.bytes());
  return bytes;
}

node_letter letter_from_bytes(const buffer& bytes) {
  wire_reader in{{bytes.data(), bytes.bytes()}};
  const auto kind = in.number<std::uint8_t>();
  if (kind == post_kind)
    return read_post(in, bytes);
  node_letter what = read(kind, in);
  in.done();
  return what;
}

}  // namespace twinkle::place
