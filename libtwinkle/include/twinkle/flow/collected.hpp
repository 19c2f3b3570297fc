// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "twinkle/base/interval.hpp"
#include "twinkle/base/result.hpp"
#include "twinkle/flow/dispatch.hpp"
#include "twinkle/flow/payload.hpp"

namespace twinkle {

/// What one call comes to: one payload, or one for each worker.
using collected = std::variant<payload, std::vector<payload>>;

namespace route {

/// The workers of a stage, as the rules of dispatch and collect see them.
struct team {
  std::string stage;                         ///< "grpo/sampler"
  std::string group;                         ///< the device group's name
  std::vector<std::string> places;           ///< by worker
  std::vector<std::size_t> data_rank;        ///< by worker
  std::vector<std::size_t> representatives;  ///< workers, in data-rank order

  [[nodiscard]] std::size_t workers() const { return places.size(); }
  [[nodiscard]] std::size_t data_ranks() const { return representatives.size(); }
};

/// What one worker was given and what it returned.
struct returned {
  std::size_t worker = 0;
  interval rows;      ///< of the call's input
  payload given;
  payload value;
  std::size_t order = 0;  ///< of arrival, from 0
};

/// How results become one; the rule for a batch can be replaced by a test that wants a wrong one.
using collector = std::function<result<collected>(const team&, collect, const std::string& endpoint,
                                                  std::span<const returned>)>;

/// The rule of design: rows in the order of the input, replicas dropped; metrics averaged; weights by layout.
[[nodiscard]] result<collected> collect_in_order(const team& workers, collect how, const std::string& endpoint,
                                                 std::span<const returned> results);

/// The rows that a worker returned for `given`, in the order of their parents there. Rows without identities take those
/// of `given`, if they are as many. A fault's cause in text: rows that descend from none given, are returned twice, are
/// lost without a tombstone, or changed in number without parents.
[[nodiscard]] std::variant<batch, std::string> rows_by_parent(const batch& given, const batch& value);

}  // namespace route
}  // namespace twinkle
