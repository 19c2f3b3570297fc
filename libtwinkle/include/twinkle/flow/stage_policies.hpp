// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "twinkle/flow/admission.hpp"
#include "twinkle/flow/collected.hpp"
#include "twinkle/flow/regroup.hpp"
#include "twinkle/flow/route.hpp"
#include "twinkle/flow/stage_plan.hpp"

namespace twinkle {

/// The operator that an edge asks for.
[[nodiscard]] std::unique_ptr<regrouper> make_regrouper(const blueprint::regroup& how, const stage_plan::in& on);

/// Of rows that were taken from an edge, those whose credits go back: all.
[[nodiscard]] inline std::size_t credits_of_all(std::size_t rows) { return rows; }

/// Of published weights that wait, in the order in which they came, those that are loaded next: the first.
[[nodiscard]] inline std::size_t oldest_first(const std::deque<weights>&) { return 0; }

/// How many versions behind `version` the oldest of the rows was sampled; 0 where none was sampled with weights.
[[nodiscard]] std::int64_t staleness_of(const batch& rows, std::int64_t version);

/// How a stage decides what its promises hang on. Each is a value of its own, so that a test can put a wrong one in its
/// place and show that the mistake is found. They are asked for each batch, reply or version, never for each row.
struct stage_policies {
  route::collector collect = route::collect_in_order;
  route::reply_rule counts = route::counts_once;
  std::function<std::unique_ptr<regrouper>(const blueprint::regroup&, const stage_plan::in&)> regroup = make_regrouper;
  std::function<std::size_t(std::size_t rows)> credits = credits_of_all;
  admission_limit admits = rows_before_next;
  std::function<std::size_t(const std::deque<weights>& waiting)> next_load = oldest_first;
  std::function<std::int64_t(const batch& rows, std::int64_t version)> staleness = staleness_of;
};

}  // namespace twinkle
