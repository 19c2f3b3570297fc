// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "twinkle/base/ensure.hpp"

namespace twinkle {

/// Which rows a stage may start before it has the next weights. With a bound of k and R rows a step, version v is
/// placed right after row (v + k) x R, whenever it arrives, so that the version of a row depends on its place alone.
class admission {
 public:
  admission(std::size_t bound, std::size_t rows_per_step) : bound_(bound), rows_per_step_(rows_per_step) {}
  /// Behind `step` steps, before the oldest version that the next one may be sampled with.
  admission(std::size_t bound, std::size_t rows_per_step, std::size_t step)
      : bound_(bound),
        rows_per_step_(rows_per_step),
        admitted_(step * rows_per_step),
        version_(static_cast<std::int64_t>(step - std::min(step, bound)) - 1) {}

  /// Rows that may still start with the version that is loaded; 0 before version 0.
  [[nodiscard]] std::size_t room() const {
    return version_ < 0 ? 0 : (static_cast<std::size_t>(version_) + bound_ + 1) * rows_per_step_ - admitted_;
  }
  void admit(std::size_t rows) {
    ensure(rows <= room(), "no row is admitted beyond the staleness bound");
    admitted_ += rows;
  }
  /// Whether it is the place of the next version.
  [[nodiscard]] bool due() const { return room() == 0; }
  void loaded() { ++version_; }

 private:
  std::size_t bound_;
  std::size_t rows_per_step_;
  std::size_t admitted_ = 0;
  std::int64_t version_ = -1;
};

}  // namespace twinkle
