// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "twinkle/base/interval.hpp"
#include "twinkle/data/buffer.hpp"
#include "twinkle/data/element.hpp"

namespace twinkle {

/// The part of a sharded tensor that one rank holds: rows `held` of `whole` along dimension `dimension`.
struct shard {
  std::size_t dimension = 0;
  interval held;
  std::size_t whole = 0;

  friend bool operator==(const shard&, const shard&) = default;
};

/// Numbers in row-major order.
struct tensor {
  element type = element::f32;
  std::vector<std::size_t> shape = {};       ///< of what is held
  buffer values = {};
  std::optional<shard> part = std::nullopt;  ///< unset: the whole, or a replica of it
};

struct named_tensor {
  std::string name;
  tensor value;
};

/// What somebody wants of each tensor, whose whole shape it is given: a part of it; nothing: the whole.
using shard_rule = std::function<std::optional<shard>(std::string_view name, std::span<const std::size_t> shape)>;

/// A set of named tensors with the version they have: an immutable snapshot that is cheap to copy.
class weights {
 public:
  weights() = default;
  explicit weights(std::vector<named_tensor> tensors, std::uint64_t version = 0)
      : tensors_(std::make_shared<const std::vector<named_tensor>>(std::move(tensors))), version_(version) {}

  [[nodiscard]] std::uint64_t version() const { return version_; }
  [[nodiscard]] std::span<const named_tensor> tensors() const {
    return tensors_ ? std::span<const named_tensor>(*tensors_) : std::span<const named_tensor>();
  }
  /// The tensor of that name, or null.
  [[nodiscard]] const tensor* find(std::string_view name) const;

  [[nodiscard]] weights at_version(std::uint64_t version) const;

 private:
  std::shared_ptr<const std::vector<named_tensor>> tensors_;
  std::uint64_t version_ = 0;
};

/// The whole tensors from what each rank returned: a replica is taken from the first that has it, shards are put
/// together in the order of their intervals. Where some of those lie on other nodes, they stay as they are, in that order,
/// under the same name, each once from each node that has it, for whoever fetches them to choose. Throws `error` naming the
/// tensor where parts are missing or disagree.
[[nodiscard]] weights assemble(std::span<const weights> parts);

}  // namespace twinkle
