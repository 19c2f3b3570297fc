// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "twinkle/data/batch.hpp"
#include "twinkle/flow/dispatch.hpp"
#include "twinkle/flow/team.hpp"

namespace twinkle {

/// What each row costs: tokens, mostly. It is asked of the rows' description, so that it sees routed columns and lengths.
struct row_costs {
  std::function<std::vector<std::uint64_t>(const batch&)> of = nullptr;
  std::string unrouted = {};  ///< the column that it reads, where its key is not routed; check() refuses it
};

/// The numbers of a routed column; one below 0 throws `error`.
[[nodiscard]] row_costs costs_of(column<std::int64_t> key);
[[nodiscard]] row_costs costs_of(column<std::int32_t> key);
/// The lengths of its rows.
[[nodiscard]] row_costs costs_of(text key);
template <storable T>
[[nodiscard]] row_costs costs_of(ragged<T> key) {
  return {[key](const batch& rows) { return rows.empty() ? std::vector<std::uint64_t>{} : rows.lengths(key.name); }};
}

/// Which rows of a batch a worker gets: a kind of dispatch, and what it needs to know.
struct dispatch_rule {
  /// By worker, the rows that it gets of a batch, whose description it sees, in that order. Every row must go to
  /// somebody. Workers of one data rank that get the same rows are replicas.
  using function = std::function<std::vector<std::vector<std::size_t>>(const batch&, const route::team&)>;

  struct details {
    row_costs costs = {};  ///< unset: each row costs 1
    bool equal_counts = true;
    bool whole_groups = false;
    function rows = nullptr;
  };

  dispatch kind = dispatch::by_type;
  std::shared_ptr<const details> how = nullptr;  ///< of balanced and function

  dispatch_rule() = default;
  dispatch_rule(dispatch of) : kind(of) {}
  dispatch_rule(dispatch of, details with) : kind(of), how(std::make_shared<const details>(std::move(with))) {}
};

/// The same rule for a call that is started twice with the same rows: a function is asked once.
[[nodiscard]] dispatch_rule asked_once(const dispatch_rule& of);

struct balance_rule {
  bool equal_counts = true;   ///< as many rows on each data rank as in even slices
  bool whole_groups = false;  ///< siblings, the rows of one parent, stay on one data rank
};

/// Rows for each data rank so that the sums of their costs are even; see twinkle::balance.
template <class Key>
[[nodiscard]] dispatch_rule balanced(const Key& costs, const balance_rule& how = {}) {
  return {dispatch::balanced, {costs_of(costs), how.equal_counts, how.whole_groups}};
}
/// Even numbers of groups for each data rank: the rows of one parent stay together.
[[nodiscard]] inline dispatch_rule by_groups() { return {dispatch::balanced, {{}, true, true}}; }
[[nodiscard]] inline dispatch_rule rows_by(dispatch_rule::function rows) {
  return {dispatch::function, {{}, true, false, std::move(rows)}};
}

/// The micro-batches that each data rank takes its rows through, as many on all: a body asks context.micro_batches().
struct micro_batch_rule {
  row_costs costs = {};  ///< unset: each row costs 1
  std::uint64_t cap = std::numeric_limits<std::uint64_t>::max();
  std::size_t at_least = 1;
  bool allow_dummies = true;
};

}  // namespace twinkle
