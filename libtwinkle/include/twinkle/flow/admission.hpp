// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

#include "twinkle/base/ensure.hpp"

namespace twinkle {

/// How many rows, from the first of the run on, may start before the version after `version` is loaded.
using admission_limit = std::function<std::size_t(std::size_t version, std::size_t bound, std::size_t rows_per_step)>;

/// Those of the steps that may train rows sampled at `version`.
[[nodiscard]] inline std::size_t rows_before_next(std::size_t version, std::size_t bound, std::size_t rows_per_step) {
  return (version + bound + 1) * rows_per_step;
}

/// Which rows a stage may start before it has the next weights. With a bound of k and R rows a step, version v is
/// placed right after row (v + k) x R, whenever it arrives, so that the version of a row depends on its place alone.
class admission {
 public:
  /// Behind `step` steps, before the oldest version that the next one may be sampled with.
  admission(std::size_t bound, std::size_t rows_per_step, std::size_t step = 0, admission_limit limit = rows_before_next)
      : limit_(std::move(limit)),
        bound_(bound),
        rows_per_step_(rows_per_step),
        admitted_(step * rows_per_step),
        until_(admitted_),
        next_(step - std::min(step, bound)) {}

  /// Rows that may still start with the version that is loaded; 0 before there is one.
  [[nodiscard]] std::size_t room() const { return until_ - std::min(until_, admitted_); }
  void admit(std::size_t rows) {
    ensure(rows <= room(), "no row is admitted beyond the staleness bound");
    admitted_ += rows;
  }
  /// Whether it is the place of the next version.
  [[nodiscard]] bool due() const { return room() == 0; }
  void loaded() { until_ = limit_(next_++, bound_, rows_per_step_); }

 private:
  admission_limit limit_;
  std::size_t bound_;
  std::size_t rows_per_step_;
  std::size_t admitted_;
  std::size_t until_;
  std::size_t next_;  // version
};

}  // namespace twinkle
