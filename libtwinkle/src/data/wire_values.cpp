// SPDX-License-Identifier: Apache-2.0
// The wire forms of weights and metrics.
#include <bit>
#include <string>
#include <utility>

#include "tensor_bytes.hpp"
#include "wire_bytes.hpp"

namespace twinkle {

using data::refuse_wire;
using data::wire_parts;
using data::wire_reader;
using data::wire_writer;

namespace {

constexpr std::size_t dimensions_max = 64;

void write(wire_writer& out, const tensor& value) {
  out.number(static_cast<std::uint8_t>(value.type));
  out.count(value.shape.size());
  for (const std::size_t size : value.shape)
    out.number(std::uint64_t{size});
  out.number(static_cast<std::uint8_t>(value.part.has_value()));
  if (!value.part)
    return;
  const auto& [dimension, held, whole] = *value.part;
  for (const std::size_t each : {dimension, held.first, held.end, whole})
    out.number(std::uint64_t{each});
}

tensor read_tensor(const std::string& name, wire_parts& from) {
  wire_reader& in = from.header();
  tensor value;
  const auto type = in.number<std::uint8_t>();
  if (type > static_cast<std::uint8_t>(element::f64))
    refuse_wire("tensor '" + name + "' has elements of an unknown type " + std::to_string(type));
  value.type = static_cast<element>(type);
  const std::size_t dimensions = in.count(sizeof(std::uint64_t));
  if (dimensions > dimensions_max)
    refuse_wire("tensor '" + name + "' has " + std::to_string(dimensions) + " dimensions; at most " +
                std::to_string(dimensions_max) + " are taken");
  value.shape.resize(dimensions);
  for (std::size_t& size : value.shape)
    size = in.number<std::uint64_t>();
  if (in.flag()) {
    shard part;
    for (std::size_t* each : {&part.dimension, &part.held.first, &part.held.end, &part.whole})
      *each = in.number<std::uint64_t>();
    value.part = part;
  }
  value.values = from.piece();
  data::check_tensor(name, value);
  if (value.values.far() == nullptr &&
      reinterpret_cast<std::uintptr_t>(value.values.data()) % bytes_of(value.type) != 0)
    refuse_wire("tensor '" + name + "' does not start at a multiple of " + std::to_string(bytes_of(value.type)) +
                " bytes");
  return value;
}

metric read_metric(wire_reader& in, const wire_limits& limits) {
  metric item;
  item.name = in.name(limits);
  const auto how = in.number<std::uint8_t>();
  if (how > static_cast<std::uint8_t>(rule::max))
    refuse_wire("metric '" + item.name + "' is merged by an unknown rule " + std::to_string(how));
  item.how = static_cast<rule>(how);
  item.value = std::bit_cast<double>(in.number<std::uint64_t>());
  if (in.flag())
    item.weight = std::bit_cast<double>(in.number<std::uint64_t>());
  if (item.weight && item.how != rule::mean)
    refuse_wire("metric '" + item.name + "' has a weight, but is no mean");
  return item;
}

}  // namespace

wire_form to_wire(const weights& tensors) {
  std::vector<buffer> pieces;
  for (const named_tensor& each : tensors.tensors()) {
    data::check_tensor(each.name, each.value);
    pieces.push_back(each.value.values);
  }
  wire_writer out{wire_kind::weights, pieces};
  out.number(tensors.version());
  out.count(pieces.size());
  for (const named_tensor& each : tensors.tensors()) {
    out.name(each.name);
    write(out, each.value);
  }
  return {std::move(out).written(), std::move(pieces)};
}

template <>
weights from_wire<weights>(const wire_form& received, const wire_limits& limits) {
  wire_parts from{received, wire_kind::weights, limits};
  wire_reader& in = from.header();
  const auto version = in.number<std::uint64_t>();
  std::vector<named_tensor> tensors;
  const std::size_t count = in.count(1);
  for (std::size_t at = 0; at < count; ++at) {
    std::string name = in.name(limits);  // one rank may hold several shards of that name
    tensor value = read_tensor(name, from);
    tensors.push_back({std::move(name), std::move(value)});
  }
  from.done();
  return weights{std::move(tensors), version};
}

wire_form to_wire(const metrics& values) {
  wire_writer out{wire_kind::metrics, {}};
  out.count(values.items().size());
  for (const metric& item : values.items()) {
    out.name(item.name);
    out.number(static_cast<std::uint8_t>(item.how));
    out.number(std::bit_cast<std::uint64_t>(item.value));
    out.number(static_cast<std::uint8_t>(item.weight.has_value()));
    if (item.weight)
      out.number(std::bit_cast<std::uint64_t>(*item.weight));
  }
  return {std::move(out).written(), {}};
}

template <>
metrics from_wire<metrics>(const wire_form& received, const wire_limits& limits) {
  wire_parts from{received, wire_kind::metrics, limits};
  wire_reader& in = from.header();
  metrics values;
  for (std::size_t left = in.count(1); left > 0; --left) {
    const metric item = read_metric(in, limits);
    if (item.how == rule::sum)
      values.sum(item.name, item.value);
    else if (item.how == rule::max)
      values.max(item.name, item.value);
    else if (item.weight)
      values.mean(item.name, item.value, *item.weight);
    else
      values.mean(item.name, item.value);
  }
  from.done();
  return values;
}

}  // namespace twinkle
