// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "column_check.hpp"
#include "table.hpp"
#include "twinkle/base/error.hpp"
#include "wire_bytes.hpp"

namespace twinkle {

using data::chunk;
using data::column_store;
using data::refuse_wire;
using data::slot;
using data::table;
using data::wire_parts;
using data::wire_reader;
using data::wire_writer;

namespace {

constexpr auto dense = column_type::form::dense;

void add_pieces(const chunk& from, const column_type& type, std::vector<buffer>& pieces) {
  chunk own = data::alone(from, type);
  if (type.kind != dense)
    pieces.push_back(std::move(own.offsets));
  pieces.push_back(std::move(own.values));
}

constexpr std::uint8_t routed_bit = 0x80;  // beside the form of a column

void write(wire_writer& out, const column_type& type) {
  out.number(static_cast<std::uint8_t>(static_cast<std::uint8_t>(type.kind) | (type.routed ? routed_bit : 0)));
  out.number(static_cast<std::uint8_t>(type.type));
  out.number(static_cast<std::uint8_t>(type.shape.rank));
  for (std::uint32_t at = 0; at < type.shape.rank; ++at)
    out.number(type.shape.sizes[at]);
}

column_type read_type(const std::string& who, wire_reader& in) {
  column_type type;
  const auto form = in.number<std::uint8_t>();
  const auto kind = static_cast<std::uint8_t>(form & ~routed_bit);
  const auto number = in.number<std::uint8_t>();
  const auto rank = in.number<std::uint8_t>();
  type.kind = static_cast<column_type::form>(kind);
  type.type = static_cast<element>(number);
  if (kind > static_cast<std::uint8_t>(column_type::form::text) || number > static_cast<std::uint8_t>(element::f64) ||
      rank > row_shape::rank_max || (type.kind != dense && rank > 0) ||
      (type.kind == column_type::form::text && type.type != element::u8))
    throw error(who + " has a type that there is not: form " + std::to_string(kind) + " of element " +
                std::to_string(number) + " with " + std::to_string(rank) + " dimensions");
  for (type.shape.rank = 0; type.shape.rank < rank; ++type.shape.rank)
    type.shape.sizes[type.shape.rank] = in.number<std::uint32_t>();
  type.routed = (form & routed_bit) != 0;
  if (type.routed && (type.kind != dense || data::row_bytes(who, type) > routed_bytes_max))
    throw error(who + " is said to be routed, but is " + to_string(type) + "; only columns of at most " +
                std::to_string(routed_bytes_max) + " bytes a row are");
  return type;
}

constexpr std::size_t tag_bytes_least = 22;
constexpr std::uint8_t padding_bit = 1;
constexpr std::uint8_t unfinished_bit = 2;

void check_identity(const identity& id) {
  if (id.depth > identity::depth_max)
    refuse_wire("a row lies " + std::to_string(id.depth) + " expansions deep; " + std::to_string(identity::depth_max) +
                " are the most");
  for (std::uint32_t at = 0; at < id.depth; ++at)
    if (id.path[at].index >= id.path[at].count)
      refuse_wire("row " + to_string(id) + " is child " + std::to_string(id.path[at].index) + " of " +
                  std::to_string(id.path[at].count));
}

void write(wire_writer& out, const row_tag& tag) {
  check_identity(tag.id);
  out.number(static_cast<std::uint8_t>(tag.id.depth));
  out.number(static_cast<std::uint8_t>((tag.padding ? padding_bit : 0) | (tag.unfinished ? unfinished_bit : 0)));
  out.number(tag.id.source);
  out.number(tag.id.sequence);
  out.number(static_cast<std::uint64_t>(tag.version));
  for (std::uint32_t at = 0; at < tag.id.depth; ++at) {
    out.number(tag.id.path[at].index);
    out.number(tag.id.path[at].count);
  }
}

row_tag read_tag(wire_reader& in) {
  row_tag tag;
  const auto depth = in.number<std::uint8_t>();
  const auto flags = in.number<std::uint8_t>();
  if (flags > (padding_bit | unfinished_bit))
    refuse_wire("the flags of a row are " + std::to_string(flags) + "; there are 1 for padding and 2 for unfinished");
  tag.padding = (flags & padding_bit) != 0;
  tag.unfinished = (flags & unfinished_bit) != 0;
  tag.id.source = in.number<std::uint32_t>();
  tag.id.sequence = in.number<std::uint64_t>();
  tag.version = static_cast<std::int64_t>(in.number<std::uint64_t>());
  tag.id.depth = depth;
  for (std::size_t at = 0; at < std::min<std::size_t>(depth, identity::depth_max); ++at) {
    tag.id.path[at].index = in.number<std::uint32_t>();
    tag.id.path[at].count = in.number<std::uint32_t>();
  }
  check_identity(tag.id);
  return tag;
}

void write_tags(wire_writer& out, const table& from) {
  out.number(static_cast<std::uint8_t>(from.tags.has_value()));
  if (!from.tags)
    return;
  out.count(from.rows);
  for (const chunk& each : chunks_of(*from.tags, from.rows))
    for (std::size_t row = 0; row < each.rows; ++row)
      write(out, each.values.as<row_tag>()[each.first + row]);
}

void read_tags(wire_reader& in, table& into) {
  if (!in.flag())
    return;
  const std::size_t count = in.count(tag_bytes_least);
  if (count != into.rows)
    refuse_wire(std::to_string(count) + " identities for a batch of " + std::to_string(into.rows) + " rows");
  std::vector<row_tag> tags;
  tags.reserve(count);
  while (tags.size() < count)
    tags.push_back(read_tag(in));
  into.tags = data::tag_slot(std::move(tags));
}

void write_graves(wire_writer& out, const table& from) {
  out.count(from.graves.size());
  for (const data::grave& each : from.graves) {
    out.number(std::uint64_t{each.behind});
    write(out, each.lost.tag);
    out.raw(each.lost.reason);
  }
}

void read_graves(wire_reader& in, table& into) {
  const std::size_t count = in.count(sizeof(std::uint64_t) + tag_bytes_least + sizeof(std::uint64_t));
  into.graves.reserve(count);
  std::size_t before = 0;
  while (into.graves.size() < count) {
    data::grave next;
    next.behind = in.number<std::uint64_t>();
    if (next.behind < before || next.behind > into.rows)
      refuse_wire("a tombstone stands behind " + std::to_string(next.behind) + " rows of " +
                  std::to_string(into.rows) + ", and the one before it behind " + std::to_string(before));
    before = next.behind;
    next.lost.tag = read_tag(in);
    next.lost.reason = in.raw();
    into.graves.push_back(std::move(next));
  }
}

chunk read_chunk(const std::string& who, const column_type& type, std::size_t rows, wire_parts& from) {
  chunk next;
  next.rows = rows;
  if (type.kind == dense) {
    next.values = from.piece();
    data::check_dense(who, type, next.values, rows);
    return next;
  }
  next.offsets = from.piece();
  next.values = from.piece();
  data::check_ragged(who, type, next.values, next.offsets, rows);
  const auto end = next.offsets.as<std::uint64_t>()[rows];
  if (end * bytes_of(type.type) != next.values.bytes())
    throw error(who + " has " + std::to_string(next.values.bytes()) +
                " bytes of elements, but its offsets end at element " + std::to_string(end));
  return next;
}

slot read_column(std::string name, std::size_t rows, wire_parts& from) {
  wire_reader& in = from.header();
  const std::string who = "wire: column '" + name + "'";
  const column_type type = read_type(who, in);
  data::row_bytes(who, type);
  std::vector<chunk> chunks;
  const std::size_t count = in.count(sizeof(std::uint64_t));
  std::size_t left = rows;
  for (std::size_t at = 0; at < count; ++at) {
    const auto in_chunk = in.number<std::uint64_t>();
    if (in_chunk == 0 || in_chunk > left)
      throw error(who + " has a chunk of " + std::to_string(in_chunk) + " rows where " + std::to_string(left) + " of " +
                  std::to_string(rows) + " are left");
    left -= in_chunk;
    chunks.push_back(read_chunk(who, type, in_chunk, from));
  }
  if (left > 0)
    throw error(who + " lacks " + std::to_string(left) + " of " + std::to_string(rows) + " rows");
  return {std::make_shared<const column_store>(std::move(name), type, std::move(chunks)), 0};
}

}  // namespace

wire_form to_wire(const batch& rows) {
  const table from = data::table_access::view(rows);
  std::vector<std::vector<chunk>> chunks;
  std::vector<buffer> pieces;
  for (const slot& column : from.columns) {
    chunks.push_back(chunks_of(column, from.rows));
    for (const chunk& each : chunks.back())
      add_pieces(each, column.store->type(), pieces);
  }
  wire_writer out{wire_kind::batch, pieces};
  out.number(std::uint64_t{from.rows});
  out.count(from.columns.size());
  for (std::size_t at = 0; at < chunks.size(); ++at) {
    out.name(from.columns[at].store->name());
    write(out, from.columns[at].store->type());
    out.count(chunks[at].size());
    for (const chunk& each : chunks[at])
      out.number(std::uint64_t{each.rows});
  }
  write_tags(out, from);
  write_graves(out, from);
  return {std::move(out).written(), std::move(pieces)};
}

template <>
batch from_wire<batch>(const wire_form& received, const wire_limits& limits) {
  wire_parts from{received, wire_kind::batch, limits};
  wire_reader& in = from.header();
  table made;
  made.rows = in.number<std::uint64_t>();
  if (made.rows > limits.rows_max)
    refuse_wire(std::to_string(made.rows) + " rows; at most " + std::to_string(limits.rows_max) + " are taken");
  const std::size_t columns = in.count(1);
  if (columns > limits.columns_max)
    refuse_wire(std::to_string(columns) + " columns; at most " + std::to_string(limits.columns_max) + " are taken");
  std::set<std::string> names;
  for (std::size_t at = 0; at < columns; ++at) {
    const std::string name = in.name(limits);
    if (!names.insert(name).second)
      refuse_wire("column '" + name + "' is there twice");
    made.columns.push_back(read_column(name, made.rows, from));
  }
  read_tags(in, made);
  read_graves(in, made);
  from.done();
  return data::table_access::of(std::move(made));
}

}  // namespace twinkle
