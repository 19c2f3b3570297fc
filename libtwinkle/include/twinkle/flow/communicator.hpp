// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "twinkle/data/element.hpp"

namespace twinkle {

enum class reduction : std::uint8_t { sum, max };

/// The transport behind a communicator: shared memory, a network, or links in simulation.
class collective_port {
 public:
  virtual ~collective_port() = default;
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual std::size_t index() const = 0;
  virtual void all_reduce(element type, reduction how, std::span<std::byte> values) = 0;
  virtual void broadcast(std::span<std::byte> values, std::size_t root) = 0;
};

/// Some workers of a stage that meet inside one call. All of them must make the same calls in the same order. Results
/// are added in rank order, so they are the same bits on every transport and in every run. Each call blocks until all
/// have come; it throws `stopped` at once when one of them fails or the run stops, and `error` where they disagree
/// about the call.
class communicator {
 public:
  explicit communicator(std::shared_ptr<collective_port> port) : port_(std::move(port)) {}

  [[nodiscard]] std::size_t size() const { return port_->size(); }
  /// The place of this worker among them, in rank order.
  [[nodiscard]] std::size_t index() const { return port_->index(); }

  /// Every worker's values become the element-wise sum (or maximum) of all workers' values.
  template <storable T>
  void all_reduce(std::span<T> values, reduction how = reduction::sum) {
    port_->all_reduce(element_of<T>(), how, std::as_writable_bytes(values));
  }
  template <storable T>
  [[nodiscard]] T all_reduce(T value, reduction how = reduction::sum) {
    all_reduce(std::span<T>(&value, 1), how);
    return value;
  }

  /// Every worker's values become those of worker `root`.
  template <storable T>
  void broadcast(std::span<T> values, std::size_t root = 0) {
    port_->broadcast(std::as_writable_bytes(values), root);
  }

  /// Returns when all have come.
  void barrier() { port_->all_reduce(element::u8, reduction::sum, {}); }

 private:
  std::shared_ptr<collective_port> port_;
};

}  // namespace twinkle
