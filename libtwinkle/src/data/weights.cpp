// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/weights.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "tensor_bytes.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/base/list.hpp"

namespace twinkle {
namespace {

using parts_of_one = std::vector<const tensor*>;

std::size_t numbers(const std::vector<std::size_t>& shape, std::size_t first, std::size_t end) {
  return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(first),
                         shape.begin() + static_cast<std::ptrdiff_t>(end), std::size_t{1}, std::multiplies<>{});
}

// "f32[2,4], rows [0,2) of 8 along dimension 0"
std::string form_of(const tensor& part) {
  std::string text = std::string(name_of(part.type)) + "[" + list_of_numbers(part.shape) + "]";
  if (part.part)
    text += ", " + to_string(part.part->held) + " of " + std::to_string(part.part->whole) + " along dimension " +
            std::to_string(part.part->dimension);
  return text;
}

// Whether both can be parts of one tensor: they differ in nothing but what lies along the sharded dimension.
bool alike(const tensor& a, const tensor& b) {
  if (a.type != b.type || a.part.has_value() != b.part.has_value())
    return false;
  if (!a.part)
    return a.shape == b.shape;
  std::vector<std::size_t> shape = a.shape;
  if (a.part->dimension != b.part->dimension || a.part->whole != b.part->whole || shape.size() != b.shape.size())
    return false;
  shape[a.part->dimension] = b.shape[a.part->dimension];
  return shape == b.shape;
}

std::optional<std::size_t> node_of(const tensor& part) {
  return part.values.far() == nullptr ? std::nullopt : std::optional(part.values.far()->node);
}

// One of each node; what holds nothing is nowhere.
parts_of_one one_a_node(std::span<const tensor* const> replicas) {
  parts_of_one kept;
  for (const tensor* each : replicas)
    if (kept.empty() || (each->values.bytes() > 0 && std::none_of(kept.begin(), kept.end(), [&](const tensor* other) {
          return node_of(*other) == node_of(*each);
        })))
      kept.push_back(each);
  return kept;
}

// The parts in order of their intervals, replicas behind each other; they must cover the whole.
std::vector<parts_of_one> cover(const std::string& name, parts_of_one parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const tensor* a, const tensor* b) { return a->part->held.first < b->part->held.first; });
  std::vector<parts_of_one> chosen;
  std::size_t next = 0;
  for (const tensor* each : parts) {
    if (!chosen.empty() && each->part->held == chosen.back().front()->part->held) {
      chosen.back().push_back(each);
      continue;
    }
    if (each->part->held.first != next)
      throw error("weights: tensor '" + name + "' lacks or repeats what lies at " + std::to_string(next) + " of " +
                  std::to_string(each->part->whole) + "; the next part is " + to_string(each->part->held));
    next = each->part->held.end;
    chosen.push_back({each});
  }
  if (next != parts.front()->part->whole)
    throw error("weights: tensor '" + name + "' ends at " + std::to_string(next) + " of " +
                std::to_string(parts.front()->part->whole));
  return chosen;
}

bool any_far(const parts_of_one& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const tensor* part) { return part->values.far() != nullptr; });
}

// One tensor, or shards and replicas of it where they cannot be read here.
std::vector<tensor> put_together(const std::string& name, const parts_of_one& parts) {
  for (const tensor* part : parts) {
    data::check_tensor(name, *part);
    if (!alike(*part, *parts.front()))
      throw error("weights: two ranks hold tensor '" + name + "' in different forms: " + form_of(*parts.front()) +
                  " and " + form_of(*part));
  }
  const std::vector<parts_of_one> covering = parts.front()->part ? cover(name, parts) : std::vector<parts_of_one>{parts};
  std::vector<tensor> all;
  for (const parts_of_one& replicas : covering)
    for (const tensor* part : one_a_node(replicas)) {
      all.push_back(*part);
      if (covering.size() == 1)
        all.back().part.reset();
    }
  if (covering.size() == 1 || any_far(parts))
    return all;
  const std::size_t along = all.front().part->dimension;
  tensor whole{all.front().type, all.front().shape};
  whole.shape[along] = all.front().part->whole;
  if (!data::tensor_bytes(whole.shape, whole.type))
    throw error("weights: tensor '" + name + "' of shape [" + list_of_numbers(whole.shape) + "] is too large");
  const std::size_t outer = numbers(whole.shape, 0, along);
  const std::size_t unit = numbers(whole.shape, along + 1, whole.shape.size()) * bytes_of(whole.type);
  std::vector<std::byte> values(outer * whole.shape[along] * unit);
  for (const tensor& part : all) {
    const std::size_t run = part.part->held.size() * unit;
    for (std::size_t row = 0; row < outer && run > 0; ++row)
      std::memcpy(values.data() + row * whole.shape[along] * unit + part.part->held.first * unit,
                  part.values.data() + row * run, run);
  }
  whole.values = buffer::of(std::move(values));
  return {std::move(whole)};
}

}  // namespace

void data::check_tensor(const std::string& name, const tensor& part) {
  if (tensor_bytes(part.shape, part.type) != part.values.bytes())
    throw error("weights: tensor '" + name + "' of " + std::string(name_of(part.type)) + "[" +
                list_of_numbers(part.shape) + "] has " + std::to_string(part.values.bytes()) +
                " bytes, which do not fit its shape");
  if (part.part && (part.part->dimension >= part.shape.size() || part.part->held.first > part.part->held.end ||
                    part.shape[part.part->dimension] != part.part->held.size() ||
                    part.part->held.end > part.part->whole))
    throw error("weights: the shard " + to_string(part.part->held) + " of " + std::to_string(part.part->whole) +
                " of tensor '" + name + "' does not fit its shape [" + list_of_numbers(part.shape) + "]");
}

const tensor* weights::find(std::string_view name) const {
  for (const named_tensor& each : tensors())
    if (each.name == name)
      return &each.value;
  return nullptr;
}

weights weights::at_version(std::uint64_t version) const {
  weights copy = *this;
  copy.version_ = version;
  return copy;
}

weights assemble(std::span<const weights> parts) {
  std::vector<std::string> names;
  std::vector<parts_of_one> found;
  for (const weights& part : parts)
    for (const named_tensor& each : part.tensors()) {
      auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), each.name) - names.begin());
      if (at == names.size()) {
        names.push_back(each.name);
        found.emplace_back();
      }
      found[at].push_back(&each.value);
    }
  std::vector<named_tensor> whole;
  for (std::size_t at = 0; at < names.size(); ++at)
    for (tensor& each : put_together(names[at], found[at]))
      whole.push_back({names[at], std::move(each)});
  return weights{std::move(whole)};
}

}  // namespace twinkle
