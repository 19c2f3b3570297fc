// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "twinkle/flow/blueprint.hpp"

namespace twinkle {

/// What can be said about numbers of rows before a run, from what sources emit, what endpoints declare with .expands
/// (1 where they do not), and rebatch.
class rows_known {
 public:
  explicit rows_known(const blueprint& plan) : plan_(plan) {}

  /// Rows that one call of the edge's producer makes, if known.
  [[nodiscard]] std::optional<std::size_t> produced(const blueprint::edge& on) const;

  /// Rows in one full batch behind the edge's operators, if known.
  [[nodiscard]] std::optional<std::size_t> arriving(const blueprint::edge& on) const;

  /// The fewest rows of a batch behind the edge's operators, if known; a source that may end can leave a rebatch
  /// part-filled.
  [[nodiscard]] std::optional<std::size_t> fewest(const blueprint::edge& on) const;

  /// Siblings that stand together on the edge, if it is grouped; else 1.
  [[nodiscard]] std::size_t group_size(const blueprint::edge& on) const;

  /// Rows that its operators hold before a batch leaves them; 0 without operators.
  [[nodiscard]] std::size_t need(const blueprint::edge& on) const;

  /// How many rows at the input of `stage` make one batch behind the edge: R of the staleness bound. Unset if the
  /// stage is not upstream, if the rows are not known, or if they do not divide.
  [[nodiscard]] std::optional<std::size_t> rows_per_step(const blueprint::edge& on, std::size_t stage) const;

  /// Of two edges that are zipped: the rows that may lie on the way of one, from where both part, without one having
  /// come out; unset if rows are not known, or if the branches part nowhere or change the number of rows.
  [[nodiscard]] std::optional<std::size_t> on_branch(const blueprint::edge& one, const blueprint::edge& other) const;

  /// The edges of that branch between the fork and the last endpoint, by ordinal.
  [[nodiscard]] std::vector<std::size_t> branch(const blueprint::edge& one, const blueprint::edge& other) const;

  [[nodiscard]] bool upstream(std::size_t stage, const blueprint::edge& of) const;

  /// The edges that go to an endpoint.
  [[nodiscard]] const blueprint::edge* into(blueprint::port at) const;

 private:
  [[nodiscard]] std::optional<std::size_t> made_by(blueprint::port from, bool full, std::size_t depth) const;
  [[nodiscard]] std::optional<std::size_t> batch_of(const blueprint::edge& on, bool full, std::size_t depth) const;
  [[nodiscard]] bool comes_from(const blueprint::edge& edge, blueprint::port port) const;
  [[nodiscard]] bool endless(blueprint::port from, std::size_t depth) const;

  const blueprint& plan_;
};

}  // namespace twinkle
