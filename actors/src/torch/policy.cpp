// SPDX-License-Identifier: Apache-2.0
#include "policy.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "twinkle/base/random.hpp"

namespace twinkle::torch_policy {

namespace {

std::int64_t signed_size(std::size_t size) {
  return static_cast<std::int64_t>(size);
}

std::int64_t product(std::span<const std::int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::string to_string(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (const auto size : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

void check(const policy_options& options) {
  if (options.vocabulary_size == 0 || options.layers == 0 || options.heads == 0 || options.feed_forward_width == 0 ||
      options.positions_max == 0 || options.width == 0)
    throw std::invalid_argument("every size of a policy must be at least 1");
  if (options.width % (2 * options.heads) != 0)
    throw std::invalid_argument("a policy's width must be a multiple of twice its heads, not " +
                                std::to_string(options.width) + " for " + std::to_string(options.heads) + " heads");
  if (options.end_token < 0 || static_cast<std::size_t>(options.end_token) >= options.vocabulary_size)
    throw std::invalid_argument("the end token " + std::to_string(options.end_token) + " is not among a policy's " +
                                std::to_string(options.vocabulary_size) + " tokens");
}

/// x cos + rotate-half(x) sin, for x of [rows, length, heads, head width].
at::Tensor rotate(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine) {
  const auto halves = x.chunk(2, -1);
  return x * cosine + at::cat({-halves[1], halves[0]}, -1) * sine;
}

}  // namespace

void one_thread() {
  at::set_num_threads(1);
  static const bool once = [] {
    using setter = void (*)(int);
    if (const auto set = reinterpret_cast<setter>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads")))
      set(1);
    return true;
  }();
  static_cast<void>(once);
}

policy::policy(std::uint64_t seed, const policy_options& options) : options_(options) {
  check(options);
  const auto tokens = signed_size(options.vocabulary_size), width = signed_size(options.width),
             wide = signed_size(options.feed_forward_width);
  add_parameter("model.embed_tokens.weight", {tokens, width});
  for (std::size_t index = 0; index < options.layers; ++index) {
    const std::string prefix = "model.layers." + std::to_string(index) + ".";
    for (const char* name : {"q_proj", "k_proj", "v_proj", "o_proj"})
      add_parameter(prefix + "self_attn." + name + ".weight", {width, width});
    add_parameter(prefix + "mlp.gate_proj.weight", {wide, width});
    add_parameter(prefix + "mlp.up_proj.weight", {wide, width});
    add_parameter(prefix + "mlp.down_proj.weight", {width, wide});
    add_parameter(prefix + "input_layernorm.weight", {width});
    add_parameter(prefix + "post_attention_layernorm.weight", {width});
  }
  add_parameter("model.norm.weight", {width});
  add_parameter("lm_head.weight", {tokens, width});
  initialise(seed);

  const auto head_width = options.width / options.heads;
  cosine_ = at::empty({signed_size(options.positions_max), signed_size(head_width)});
  sine_ = at::empty_like(cosine_);
  for (std::size_t position = 0; position < options.positions_max; ++position)
    for (std::size_t at = 0; at < head_width; ++at) {
      const double power = static_cast<double>(2 * (at % (head_width / 2))) / static_cast<double>(head_width);
      const double angle = static_cast<double>(position) / std::pow(options.rope_base, power);
      cosine_.data_ptr<float>()[position * head_width + at] = static_cast<float>(std::cos(angle));
      sine_.data_ptr<float>()[position * head_width + at] = static_cast<float>(std::sin(angle));
    }
}

void policy::add_parameter(std::string name, std::vector<std::int64_t> shape) {
  parameters_.push_back({std::move(name), at::empty(shape)});
}

void policy::initialise(std::uint64_t seed) {
  std::int64_t count = 0;
  for (const auto& each : parameters_)
    count += each.value.numel();
  flat_values_ = at::empty({count});
  flat_gradient_ = at::zeros({count});
  generator random(seed);
  std::int64_t offset = 0;
  for (auto& each : parameters_) {
    const auto shape = each.value.sizes().vec();
    const auto size = product(shape);
    // Detached views are leaves of autograd that share the flat buffers.
    each.value = flat_values_.narrow(0, offset, size).view(shape).detach();
    const std::span<float> values(each.value.data_ptr<float>(), static_cast<std::size_t>(size));
    // Uniform in +-sqrt(3 / inputs) * gain, whose variance is gain^2 / inputs; norms start at 1. Of the gains tried,
    // small ones within and a head of full size learnt fastest from a supervised start that is rewarded at times.
    const bool embeds = each.name == "model.embed_tokens.weight";
    const double gain = embeds ? 0.02 : each.name == "lm_head.weight" ? 1 : 0.35;
    const double bound = std::sqrt(3 / (embeds ? 1 : static_cast<double>(shape.back()))) * gain;
    for (auto& value : values)
      value = shape.size() == 1 ? 1.0f : static_cast<float>(bound * (2 * random.uniform() - 1));
    each.value.set_requires_grad(true);
    each.value.mutable_grad() = flat_gradient_.narrow(0, offset, size).view(shape).detach();
    offset += size;
  }
  std::size_t next = 0;
  const auto take = [&] { return parameters_[next++].value; };
  embedding_ = take();
  for (std::size_t index = 0; index < options_.layers; ++index)  // a braced list is evaluated in order
    layers_.push_back(layer{take(), take(), take(), take(), take(), take(), take(), take(), take()});
  last_norm_ = take();
  head_ = take();
}

std::span<float> policy::values() {
  return {flat_values_.data_ptr<float>(), static_cast<std::size_t>(flat_values_.numel())};
}

std::span<const float> policy::values() const {
  return {flat_values_.data_ptr<float>(), static_cast<std::size_t>(flat_values_.numel())};
}

std::span<float> policy::gradient() {
  return {flat_gradient_.data_ptr<float>(), static_cast<std::size_t>(flat_gradient_.numel())};
}

const parameter& policy::fitting(const named_values& tensor) const {
  const auto found = std::find_if(parameters_.begin(), parameters_.end(),
                                  [&](const parameter& each) { return each.name == tensor.name; });
  if (found == parameters_.end()) {
    std::string names;
    for (const auto& each : parameters_)
      names += (names.empty() ? "" : ", ") + each.name;
    throw std::invalid_argument("the policy has no parameter \"" + std::string(tensor.name) + "\"; it has " + names);
  }
  const auto shape = found->value.sizes();
  if (!std::equal(shape.begin(), shape.end(), tensor.shape.begin(), tensor.shape.end()))
    throw std::invalid_argument("parameter \"" + found->name + "\" of the policy is " +
                                to_string({shape.begin(), shape.end()}) + ", the one to load is " +
                                to_string(tensor.shape));
  if (tensor.values.size() != static_cast<std::size_t>(found->value.numel()))
    throw std::invalid_argument("parameter \"" + found->name + "\" of shape " + to_string(tensor.shape) +
                                " comes with " + std::to_string(tensor.values.size()) + " values");
  return *found;
}

void policy::load(const named_values& tensor) {
  std::copy(tensor.values.begin(), tensor.values.end(), fitting(tensor).value.data_ptr<float>());
}

void policy::load(std::span<const named_values> tensors) {
  std::vector<const parameter*> targets;
  for (const auto& tensor : tensors) {
    targets.push_back(&fitting(tensor));
    if (std::find(targets.begin(), targets.end() - 1, targets.back()) != targets.end() - 1)
      throw std::invalid_argument("parameter \"" + targets.back()->name + "\" is to be loaded twice");
  }
  for (const auto& each : parameters_)
    if (std::find(targets.begin(), targets.end(), &each) == targets.end())
      throw std::invalid_argument("parameter \"" + each.name + "\" of the policy is not among the " +
                                  std::to_string(tensors.size()) + " to load");
  for (std::size_t index = 0; index < tensors.size(); ++index)
    std::copy(tensors[index].values.begin(), tensors[index].values.end(), targets[index]->value.data_ptr<float>());
}

at::Tensor policy::norm(const at::Tensor& hidden, const at::Tensor& weight) const {
  return hidden * at::rsqrt(hidden.square().mean(-1, true) + options_.norm_epsilon) * weight;
}

at::Tensor policy::attend(std::size_t index, const at::Tensor& hidden, const pass& shared) const {
  const auto& weights = layers_[index];
  const auto width = signed_size(options_.width), heads = signed_size(options_.heads);
  const auto by_head = [&](const at::Tensor& x, std::int64_t length) {
    return x.view({shared.rows, length, heads, width / heads});
  };
  const auto query = rotate(by_head(at::linear(hidden, weights.query), shared.length), shared.cosine, shared.sine);
  auto key = rotate(by_head(at::linear(hidden, weights.key), shared.length), shared.cosine, shared.sine);
  auto value = by_head(at::linear(hidden, weights.value), shared.length);
  if (shared.cache) {
    auto& keys = shared.cache->keys[index];
    auto& values = shared.cache->values[index];
    keys.index_copy_(0, shared.slots, key.reshape({-1, width}));
    values.index_copy_(0, shared.slots, value.reshape({-1, width}));
    key = by_head(keys, shared.cache->positions);
    value = by_head(values, shared.cache->positions);
  }
  const double scale = 1 / std::sqrt(static_cast<double>(width / heads));
  const auto scores = at::matmul(query.transpose(1, 2) * scale, key.permute({0, 2, 3, 1})) + shared.mask;
  const auto mixed = at::matmul(at::softmax(scores, -1), value.transpose(1, 2));
  return at::linear(mixed.transpose(1, 2).reshape({-1, width}), weights.output);
}

at::Tensor policy::feed_forward(const layer& weights, const at::Tensor& hidden) const {
  return at::linear(at::silu(at::linear(hidden, weights.gate)) * at::linear(hidden, weights.up), weights.down);
}

at::Tensor policy::hidden(const at::Tensor& tokens, const at::Tensor& positions, key_value_cache* cache) const {
  const auto rows = tokens.size(0), length = tokens.size(1);
  const auto keys = cache ? cache->positions : length;
  const auto at_positions = [&](const at::Tensor& table) {
    return table.index_select(0, positions.reshape(-1)).view({positions.size(0), length, 1, table.size(1)});
  };
  pass shared{rows, length, at_positions(cosine_), at_positions(sine_), {}, {}, cache};
  const auto later = at::arange(keys, at::kLong).gt(positions.unsqueeze(-1)).unsqueeze(1);
  shared.mask = at::zeros(later.sizes()).masked_fill(later, -std::numeric_limits<double>::infinity());
  if (cache)
    shared.slots = (at::arange(rows, at::kLong).unsqueeze(1) * keys + positions).reshape(-1);

  auto x = at::embedding(embedding_, tokens.reshape(-1));
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    x = x + attend(index, norm(x, layers_[index].attention_norm), shared);
    x = x + feed_forward(layers_[index], norm(x, layers_[index].feed_forward_norm));
  }
  return x;
}

at::Tensor policy::head(const at::Tensor& hidden) const {
  return at::linear(norm(hidden, last_norm_), head_);
}

at::Tensor policy::logits(const at::Tensor& tokens) const {
  if (tokens.dim() != 2 || tokens.scalar_type() != at::kLong)
    throw std::invalid_argument("logits() takes int64 tokens of [rows, length], not " +
                                std::string(c10::toString(tokens.scalar_type())) + " of " +
                                to_string({tokens.sizes().begin(), tokens.sizes().end()}));
  if (tokens.size(1) > signed_size(options_.positions_max))
    throw std::invalid_argument("the policy has " + std::to_string(options_.positions_max) + " positions, not " +
                                std::to_string(tokens.size(1)));
  const auto states = hidden(tokens, at::arange(tokens.size(1), at::kLong).unsqueeze(0), nullptr);
  return head(states).view({tokens.size(0), tokens.size(1), signed_size(options_.vocabulary_size)});
}

void policy::check_row(std::size_t row, std::span<const token_id> prompt, std::span<const token_id> completion,
                       std::size_t new_tokens) const {
  if (prompt.empty())
    throw std::invalid_argument("the prompt of row " + std::to_string(row) + " is empty");
  if (const auto length = prompt.size() + completion.size() + new_tokens; length > options_.positions_max)
    throw std::invalid_argument("row " + std::to_string(row) + " needs " + std::to_string(length) +
                                " positions, the policy has " + std::to_string(options_.positions_max));
  for (const auto tokens : {prompt, completion})
    for (const auto token : tokens)
      if (token < 0 || static_cast<std::size_t>(token) >= options_.vocabulary_size)
        throw std::invalid_argument("token " + std::to_string(token) + " of row " + std::to_string(row) +
                                    " is not among the policy's " + std::to_string(options_.vocabulary_size));
}

token_scores policy::score(std::span<const sequence> rows) const {
  std::size_t length = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    check_row(row, rows[row].prompt, rows[row].completion, 0);
    length = std::max(length, rows[row].prompt.size() + rows[row].completion.size() - 1);
  }
  // Rows are padded on the right, where causal attention never looks; `places` are the states that predict completions.
  std::vector<std::int64_t> inputs(rows.size() * length, 0), places, targets;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto [prompt, completion] = rows[row];
    const auto begin = inputs.begin() + signed_size(row * length);
    const auto middle = std::copy(prompt.begin(), prompt.end() - (completion.empty() ? 1 : 0), begin);
    if (!completion.empty())
      std::copy(completion.begin(), completion.end() - 1, middle);
    for (std::size_t at = 0; at < completion.size(); ++at) {
      places.push_back(signed_size(row * length + prompt.size() - 1 + at));
      targets.push_back(completion[at]);
    }
  }
  if (places.empty())
    return {at::zeros({0}), at::zeros({0})};
  const auto states = hidden(at::tensor(inputs).view({signed_size(rows.size()), signed_size(length)}),
                             at::arange(signed_size(length), at::kLong).unsqueeze(0), nullptr);
  const auto all = at::log_softmax(head(states.index_select(0, at::tensor(places))), -1);
  const auto chosen = all.gather(1, at::tensor(targets).unsqueeze(1)).squeeze(1);
  const auto fixed = all.detach();
  return {chosen, -(fixed.exp() * fixed).sum(-1)};
}

}  // namespace twinkle::torch_policy
