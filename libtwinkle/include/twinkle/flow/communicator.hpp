// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "twinkle/base/interval.hpp"
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
  virtual void reduce_scatter(element type, reduction how, std::span<std::byte> values) = 0;
  virtual void all_gather(element type, std::span<std::byte> values) = 0;
  virtual void broadcast(std::span<std::byte> values, std::size_t root) = 0;
  virtual void send(std::span<const std::byte> values, std::size_t to) = 0;
  virtual void receive(std::span<std::byte> values, std::size_t from) = 0;
};

/// Some workers of a stage that meet inside one call. All of them must make the same calls in the same order. Results
/// are added in rank order, so they are the same bits on every transport and in every run. Each call blocks until all
/// have come, but for `send` and `receive`; it throws `stopped` at once when one of them fails or the run stops, and
/// `error` where they disagree about the call.
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

  /// The even part of `length` values that is this worker's in the next two.
  [[nodiscard]] interval part(std::size_t length) const { return even_part(length, size(), index()); }

  /// This worker's part of `values` becomes that of the sum (or maximum) of all workers' values, and is returned; the
  /// rest stays as it was.
  template <storable T>
  std::span<T> reduce_scatter(std::span<T> values, reduction how = reduction::sum) {
    port_->reduce_scatter(element_of<T>(), how, std::as_writable_bytes(values));
    const interval mine = part(values.size());
    return values.subspan(mine.first, mine.size());
  }

  /// Every worker's part of its `values` goes to all others, so that all have the same.
  template <storable T>
  void all_gather(std::span<T> values) {
    port_->all_gather(element_of<T>(), std::as_writable_bytes(values));
  }

  /// Sends a copy to another of these workers, and does not wait for it.
  template <class T>
    requires storable<std::remove_const_t<T>>
  void send(std::span<T> values, std::size_t to) {
    port_->send(std::as_bytes(values), to);
  }

  /// Blocks until worker `from` has sent as many values; in the order in which it sent them. Throws `error` where it
  /// sent fewer or more.
  template <storable T>
  void receive(std::span<T> values, std::size_t from) {
    port_->receive(std::as_writable_bytes(values), from);
  }

  /// Returns when all have come.
  void barrier() { port_->all_reduce(element::u8, reduction::sum, {}); }

 private:
  std::shared_ptr<collective_port> port_;
};

}  // namespace twinkle
