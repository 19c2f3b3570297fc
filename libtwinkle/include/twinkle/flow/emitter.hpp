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

  /// Leaves row `parent` to whichever worker takes it next, which goes on with `row`, its one row so far: see
  /// batch::unfinished. Throws `error` as above, and for any other number of rows.
  void unfinished(std::size_t parent, const batch& row);

  /// All that was emitted or left, in the order of the parents.
  [[nodiscard]] batch all() const;

 private:
  void check_open(std::size_t parent) const;
  void close(std::size_t parent, batch part);

  const batch& given_;
  std::function<void(const batch&)> sink_;
  std::vector<batch> parts_;  // by parent
  std::vector<bool> closed_;
};

}  // namespace twinkle
