// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "twinkle/data/batch.hpp"

namespace twinkle {

/// How a body gives back the rows of one parent before it has those of the others: see .as_completed().
class emitter {
 public:
  emitter(const batch& given, std::function<void(const batch&)> sink);

  /// Closes row `parent` of the batch that was given: `rows` are its children, in this order; none leave a tombstone.
  /// Throws `error` for a row that there is not, or that was closed before.
  void operator()(std::size_t parent, const batch& rows);

  /// All that was emitted, in the order of the parents.
  [[nodiscard]] batch all() const;

 private:
  const batch& given_;
  std::function<void(const batch&)> sink_;
  std::vector<batch> parts_;  // by parent
  std::vector<bool> closed_;
};

}  // namespace twinkle
