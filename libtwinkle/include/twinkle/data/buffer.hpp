// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "twinkle/base/ensure.hpp"

namespace twinkle {

/// Where bytes are that another node keeps. They are kept there until the owner of this is gone.
struct far_bytes {
  std::size_t node = 0;
  std::uint64_t key = 0;  ///< that the node keeps them under

  /// Which process of the node keeps them: one that takes its place has other keys.
  [[nodiscard]] constexpr std::uint64_t life() const { return key >> life_shift; }
  /// A process's life, by a number that tells it from those that were there before by its low 24 bits.
  [[nodiscard]] static constexpr std::uint64_t life_of(std::uint64_t process) { return process << life_shift >> life_shift; }
  [[nodiscard]] static constexpr std::uint64_t first_key(std::uint64_t process) { return process << life_shift | 1; }

 private:
  static constexpr int life_shift = 40;
};

/// Immutable shared bytes. Whoever made them owns them by a deleter: a vector, a tensor, a mapped file. They may lie on
/// another node: then they are handed on and cut, but cannot be read.
class buffer {
 public:
  buffer() = default;

  /// Bytes kept alive by `owner`; they must not change while it lives.
  buffer(const void* data, std::size_t bytes, std::shared_ptr<const void> owner)
      : owner_(std::move(owner)), data_(static_cast<const std::byte*>(data)), bytes_(bytes) {}

  /// Bytes [first, first + bytes) of those that another node keeps.
  buffer(std::shared_ptr<const far_bytes> where, std::size_t first, std::size_t bytes)
      : owner_(where), far_(where.get()), first_(first), bytes_(bytes) {}

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
    buffer made = *this;
    if (far_ != nullptr)
      made.first_ += first;
    else
      made.data_ += first;
    made.bytes_ = bytes;
    return made;
  }

  /// Null if they are here.
  [[nodiscard]] const far_bytes* far() const { return far_; }
  /// Of far bytes: the first of those that are kept under the key.
  [[nodiscard]] std::size_t first() const { return first_; }
  /// Whether both begin at the same byte of the same memory.
  [[nodiscard]] bool begins_with(const buffer& other) const {
    return far_ == other.far_ && first_ == other.first_ && data_ == other.data_;
  }

  /// They must be here.
  [[nodiscard]] const std::byte* data() const {
    ensure(far_ == nullptr, "bytes that are read are here");
    return data_;
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  template <class T>
  [[nodiscard]] const T* as() const {
    return reinterpret_cast<const T*>(data());
  }

 private:
  std::shared_ptr<const void> owner_;
  const std::byte* data_ = nullptr;
  const far_bytes* far_ = nullptr;
  std::size_t first_ = 0;  // of far bytes
  std::size_t bytes_ = 0;
};

}  // namespace twinkle
