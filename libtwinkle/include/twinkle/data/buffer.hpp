// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "twinkle/base/ensure.hpp"

namespace twinkle {

/// Immutable shared bytes. Whoever made them owns them by a deleter: a vector, a tensor, a mapped file.
class buffer {
 public:
  buffer() = default;

  /// Bytes kept alive by `owner`; they must not change while it lives.
  buffer(const void* data, std::size_t bytes, std::shared_ptr<const void> owner)
      : owner_(std::move(owner)), data_(static_cast<const std::byte*>(data)), bytes_(bytes) {}

  /// Takes the vector over; no element is copied.
  template <class T>
  [[nodiscard]] static buffer of(std::vector<T> values) {
    auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    const void* data = owner->data();
    const std::size_t bytes = owner->size() * sizeof(T);
    return {data, bytes, std::move(owner)};
  }

  /// Bytes [first, first + bytes) of these, with the same owner; no element is copied. They must lie inside.
  [[nodiscard]] buffer part(std::size_t first, std::size_t bytes) const {
    ensure(first <= bytes_ && bytes <= bytes_ - first, "a part of a buffer lies in it");
    return {data_ + first, bytes, owner_};
  }

  [[nodiscard]] const std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  template <class T>
  [[nodiscard]] const T* as() const {
    return reinterpret_cast<const T*>(data_);
  }

 private:
  std::shared_ptr<const void> owner_;
  const std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace twinkle
