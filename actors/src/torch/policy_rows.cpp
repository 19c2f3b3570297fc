// SPDX-License-Identifier: Apache-2.0
#include "policy_rows.hpp"

#include <limits>
#include <memory>
#include <stdexcept>

#include "twinkle/base/error.hpp"
#include "twinkle/workers/columns.hpp"
#include "twinkle/workers/jsonl_loader.hpp"

namespace twinkle::torch_policy {

batch read_pairs(const std::string& path) {
  jsonl_loader loader{path, {.rows = std::numeric_limits<std::int32_t>::max()}};
  batch rows = *loader.next_rows();
  const std::vector<std::string_view> wanted{columns::prompt.name, columns::answer.name};
  return rows.select(wanted);
}

std::vector<std::vector<token_id>> encode_all(const text_view& texts) {
  std::vector<std::vector<token_id>> encoded;
  for (std::size_t row = 0; row < texts.rows(); ++row)
    try {
      encoded.push_back(vocabulary::encode(texts[row]));
    } catch (const std::invalid_argument& unknown) {
      throw error("row " + std::to_string(row) + " of the batch: " + unknown.what());
    }
  return encoded;
}

std::string completion_text(std::span<const token_id> tokens) {
  if (!tokens.empty() && tokens.back() == vocabulary::end)
    return vocabulary::decode(tokens.first(tokens.size() - 1));
  return vocabulary::decode(tokens) + "…";
}

void load(policy& into, const weights& from) {
  std::vector<std::vector<std::int64_t>> shapes;
  std::vector<named_values> tensors;
  shapes.reserve(from.tensors().size());
  for (const named_tensor& each : from.tensors()) {
    if (each.value.type != element::f32 || each.value.part)
      throw error("weights: tensor '" + each.name + "' must be whole and of f32 to be loaded");
    shapes.emplace_back(each.value.shape.begin(), each.value.shape.end());
    tensors.push_back({each.name, shapes.back(),
                       {each.value.values.as<float>(), each.value.values.bytes() / sizeof(float)}});
  }
  try {
    into.load(tensors);
  } catch (const std::invalid_argument& wrong) {
    throw error(std::string("weights: ") + wrong.what());
  }
}

weights snapshot(const policy& from) {
  const std::span<const float> values = from.values();
  const auto copy = std::make_shared<const std::vector<float>>(values.begin(), values.end());
  std::vector<named_tensor> tensors;
  std::size_t first = 0;
  for (const parameter& each : from.parameters()) {
    const auto count = static_cast<std::size_t>(each.value.numel());
    const auto sizes = each.value.sizes();
    tensors.push_back({each.name,
                       {element::f32, {sizes.begin(), sizes.end()}, {copy->data() + first, count * sizeof(float), copy}}});
    first += count;
  }
  return weights{std::move(tensors)};
}

std::vector<completion> complete(const policy& with, const std::vector<std::vector<token_id>>& prompts,
                                 const sampling_options& how, const uniform_source& uniform) {
  const std::vector<std::span<const token_id>> lent(prompts.begin(), prompts.end());
  return with.generate(lent, how, uniform);
}

}  // namespace twinkle::torch_policy
