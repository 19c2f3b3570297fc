// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vocabulary.hpp"

namespace twinkle::torch_policy {

struct policy_options {
  std::size_t vocabulary_size = vocabulary::size;
  std::size_t layers = 2;
  std::size_t width = 64;
  std::size_t heads = 4;
  std::size_t feed_forward_width = 192;
  std::size_t positions_max = 128;  // of a prompt and its completion together
  token_id end_token = vocabulary::end;
  double norm_epsilon = 1e-5;
  double rope_base = 10'000;
};

/// A tensor of a policy, shared with it.
struct parameter {
  std::string name;  // as Hugging Face's Llama calls it
  at::Tensor value;
};

/// A tensor lent to `policy::load`.
struct named_values {
  std::string_view name;
  std::span<const std::int64_t> shape;
  std::span<const float> values;
};

/// A prompt and what follows it, lent.
struct sequence {
  std::span<const token_id> prompt;
  std::span<const token_id> completion;
};

/// One number for each token of the completions, the rows one after another.
struct token_scores {
  at::Tensor log_probs;
  at::Tensor entropies;  // no gradient flows through these
};

struct completion {
  std::vector<token_id> tokens;  // up to and with the end mark, if it was reached
  std::vector<float> log_probs;  // at temperature 1, whatever the temperature of sampling
};

struct sampling_options {
  std::size_t new_tokens_max = 8;
  double temperature = 1;  // 0 takes the likeliest token and draws no number
};

/// A number in [0, 1) for the given row of the call and position in its completion.
using uniform_source = std::function<double(std::size_t row, std::size_t position)>;

/// libtorch and OpenBLAS use one thread for work of the calling thread. To be called on every thread that runs a
/// policy.
void one_thread();

/// A decoder in the manner of Llama: RMSNorm, rotary positions (rotate-half), SwiGLU, no biases, untied embeddings.
/// One object serves one thread at a time.
class policy {
 public:
  /// Equal seeds give equal parameters.
  explicit policy(std::uint64_t seed, const policy_options& options = {});

  policy(policy&&) = default;
  policy& operator=(policy&&) = default;
  policy(const policy&) = delete;  // would share the parameters
  policy& operator=(const policy&) = delete;

  const policy_options& options() const { return options_; }

  /// Always in the same order.
  const std::vector<parameter>& parameters() const { return parameters_; }

  /// All parameters, in their order, without gaps; writing to it changes the policy.
  std::span<float> values();
  std::span<const float> values() const;

  /// The accumulated gradient, laid out as values(); stays in place for the life of the policy.
  std::span<float> gradient();

  /// Throws std::invalid_argument naming both sides where a name or shape does not fit; then nothing is changed.
  void load(const named_values& tensor);

  /// Every parameter exactly once, in any order; else it throws, and nothing is changed.
  void load(std::span<const named_values> tensors);

  /// [rows, length] ids -> [rows, length, vocabulary].
  at::Tensor logits(const at::Tensor& tokens) const;

  /// Scores under the policy (with gradient, where enabled). A completion may be empty, a prompt may not.
  token_scores score(std::span<const sequence> rows) const;

  /// A row depends on the policy, its prompt, the options and its own numbers alone, up to float rounding.
  /// A row's numbers are asked for in the order of positions.
  std::vector<completion> generate(std::span<const std::span<const token_id>> prompts, const sampling_options& sampling,
                                   const uniform_source& uniform) const;

 private:
  struct layer {
    at::Tensor query, key, value, output, gate, up, down, attention_norm, feed_forward_norm;
  };

  /// Keys and values of each layer, [rows * positions, width].
  struct key_value_cache {
    std::vector<at::Tensor> keys, values;
    std::int64_t positions = 0;
  };

  /// What all layers of one pass share.
  struct pass {
    std::int64_t rows, length;
    at::Tensor cosine, sine;  // [1 or rows, length, 1, head width]
    at::Tensor mask;          // [1 or rows, 1, length, keys]: 0, or -inf for keys after the position
    at::Tensor slots;         // [rows * length]: where keys and values go in the cache
    key_value_cache* cache;
  };

  void add_parameter(std::string name, std::vector<std::int64_t> shape);
  void initialise(std::uint64_t seed);
  const parameter& fitting(const named_values& tensor) const;
  void check_row(std::size_t row, std::span<const token_id> prompt, std::span<const token_id> completion,
                 std::size_t new_tokens) const;
  at::Tensor norm(const at::Tensor& hidden, const at::Tensor& weight) const;
  at::Tensor attend(std::size_t index, const at::Tensor& hidden, const pass& shared) const;
  at::Tensor feed_forward(const layer& weights, const at::Tensor& hidden) const;

  /// [rows, length] ids at [1 or rows, length] positions -> [rows * length, width], before the last norm.
  at::Tensor hidden(const at::Tensor& tokens, const at::Tensor& positions, key_value_cache* cache) const;

  /// [n, width] -> [n, vocabulary].
  at::Tensor head(const at::Tensor& hidden) const;

  policy_options options_;
  at::Tensor flat_values_, flat_gradient_;
  std::vector<parameter> parameters_;
  std::vector<layer> layers_;
  at::Tensor embedding_, last_norm_, head_;
  at::Tensor cosine_, sine_;  // [positions_max, head width]
};

}  // namespace twinkle::torch_policy
