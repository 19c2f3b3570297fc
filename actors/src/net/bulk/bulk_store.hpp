// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "twinkle/data/buffer.hpp"

namespace twinkle::net {

/// What this node keeps for others. Safe from many threads.
class bulk_store {
 public:
  /// The key it is found by; none is used twice.
  [[nodiscard]] std::uint64_t keep(buffer bytes);
  [[nodiscard]] std::optional<buffer> find(std::uint64_t key) const;
  /// What is being sent from it stays until it is sent. Does nothing for a key that is not there.
  void release(std::uint64_t key);

  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::size_t pieces() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, buffer> kept_;
  std::uint64_t next_ = 1;
  std::size_t bytes_ = 0;
};

}  // namespace twinkle::net
