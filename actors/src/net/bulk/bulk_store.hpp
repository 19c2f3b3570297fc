// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "twinkle/data/buffer.hpp"

namespace twinkle::net {

/// What this node keeps for others. Safe from many threads.
class bulk_store {
 public:
  /// `process`: the number of this process, among those that this node may have had.
  explicit bulk_store(std::uint64_t process = 0) : next_(far_bytes::first_key(process)) {}

  /// The key that they are found by: the same for the same memory, as long as it is kept; else none is used twice, nor by
  /// another process.
  [[nodiscard]] std::uint64_t keep(buffer bytes);
  [[nodiscard]] std::optional<buffer> find(std::uint64_t key) const;
  /// Undoes one `keep`; with the last they are gone, but for what is being sent. Does nothing for a key that is not there.
  void release(std::uint64_t key);

  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::size_t pieces() const;

 private:
  using place = std::pair<const std::byte*, std::size_t>;
  struct entry {
    buffer bytes;
    std::size_t needed = 0;  // by so many
  };

  mutable std::mutex mutex_;
  std::map<std::uint64_t, entry> kept_;
  std::map<place, std::uint64_t> keys_;
  std::uint64_t next_;
  std::size_t bytes_ = 0;
};

}  // namespace twinkle::net
