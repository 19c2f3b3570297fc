// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "twinkle/base/interval.hpp"
#include "twinkle/base/result.hpp"
#include "twinkle/flow/micro_batch_plan.hpp"
#include "twinkle/flow/payload.hpp"
#include "twinkle/flow/team.hpp"

namespace twinkle {

/// What one call comes to: one payload, or one for each worker.
using collected = std::variant<payload, std::vector<payload>>;

namespace route {

struct call;

/// What one worker was given and what it returned.
struct returned {
  std::size_t worker = 0;
  interval rows;         ///< of the call's input; of rows that are no interval, the one that spans them
  payload given;
  payload value = {};
  std::size_t order = 0; ///< of arrival, from 0
  bool replica = false;  ///< another worker was given the same, and its result counts
  bool padding = false;  ///< it was given copies of rows that others work on
  std::shared_ptr<const std::vector<std::size_t>> picked = nullptr;         ///< the rows, where they are no interval
  std::shared_ptr<const std::vector<micro_batch>> micro_batches = nullptr;  ///< of the rows, where the call asks for them
};

/// How results become one; the rule for a batch can be replaced by a test that wants a wrong one.
using collector = std::function<result<collected>(const team&, const call& of, std::span<const returned>)>;

/// The results that count, by the first of their rows: one for each part of the input, replicas left out.
[[nodiscard]] std::vector<const returned*> that_count(std::span<const returned> results);

/// The rule of design: rows in the order of the input, replicas and padding dropped; metrics averaged; weights by layout.
[[nodiscard]] result<collected> collect_in_order(const team& workers, const call& of, std::span<const returned> results);

/// The rows that a worker returned for `given`, in the order of their parents there. Rows without identities take those
/// of `given`, if they are as many. A fault's cause in text: rows that descend from none given, are returned twice, are
/// lost without a tombstone, or changed in number without parents.
[[nodiscard]] std::variant<batch, std::string> rows_by_parent(const batch& given, const batch& value);

/// The rows that a worker returned for `given`, of which it was not given the columns `around`: with those beside them, of
/// the row that each is or descends from; what it returned itself stays as it returned it. No element is copied. Rows that
/// descend from none given come back as they are.
[[nodiscard]] batch with_unread(const batch& given, const batch& value, const std::vector<std::string>& around);

/// Those that nobody is to go on with.
[[nodiscard]] batch finished_rows(const batch& rows);

}  // namespace route
}  // namespace twinkle
