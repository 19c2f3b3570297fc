// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "twinkle/data/identity.hpp"

namespace twinkle {

/// Which rows were trained. A source's row is when all that descends from it is; so what is not in here is outstanding.
///
///     source 0:  [0,64) [72,80)      and of row 64: child 1 of 2
class trained_rows {
 public:
  /// Sequences first..end-1.
  struct run {
    std::uint64_t first = 0;
    std::uint64_t end = 0;

    friend bool operator==(const run&, const run&) = default;
  };

  void add(const identity& row);
  /// Rows behind all that the source has here.
  void add_run(std::uint32_t source, const run& rows);
  [[nodiscard]] bool contains(const identity& row) const;

  /// The first row of the source, of those from `from` on, that is not trained whole.
  [[nodiscard]] std::uint64_t first_open(std::uint32_t source, std::uint64_t from) const;

  /// By source; apart and ascending.
  [[nodiscard]] const std::map<std::uint32_t, std::vector<run>>& whole() const { return whole_; }
  /// Rows whose siblings are not all trained.
  [[nodiscard]] std::vector<identity> in_part() const;
  [[nodiscard]] bool any_in_part() const { return !parts_.empty(); }

  friend bool operator==(const trained_rows&, const trained_rows&) = default;

 private:
  void close(std::uint32_t source, std::uint64_t sequence);
  [[nodiscard]] bool closed(std::uint32_t source, std::uint64_t sequence) const;

  std::map<std::uint32_t, std::vector<run>> whole_;
  std::map<identity, std::set<child>> parts_;  // by parent
};

}  // namespace twinkle
