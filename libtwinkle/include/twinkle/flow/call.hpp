// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "twinkle/base/time.hpp"
#include "twinkle/flow/collected.hpp"
#include "twinkle/flow/rules.hpp"

namespace twinkle {

/// How the results of the workers become one: a kind of collect, or a function of all results, in worker order.
struct collect_rule {
  using function = std::function<result<collected>(const route::team&, std::span<const route::returned>)>;

  collect kind = collect::by_type;
  std::shared_ptr<const function> how = nullptr;

  collect_rule() = default;
  collect_rule(collect of) : kind(of) {}
  explicit collect_rule(function by) : kind(collect::function), how(std::make_shared<const function>(std::move(by))) {}
};

[[nodiscard]] inline collect_rule results_by(collect_rule::function by) { return collect_rule{std::move(by)}; }

namespace route {

/// Calls of one stage are numbered in the order in which all of its workers execute them.
using call_id = std::uint64_t;

/// Columns that workers are given; null: all.
using read_list = std::shared_ptr<const std::vector<std::string>>;

struct call {
  std::string endpoint;
  dispatch_rule how = {};
  collect_rule result = {};
  small fewer = small::unset;
  payload input = {};
  std::optional<time_point> deadline = std::nullopt;             ///< unset: it may take for ever
  std::shared_ptr<const micro_batch_rule> micro_batches = nullptr;
  read_list reads = nullptr;
  std::size_t retries = 0;                          ///< how often rows whose worker fails go to another one
  failing failed = failing::ends_run;               ///< what becomes of rows that nobody could work on
  bool may_lose = false;                            ///< rows that are gone with their node are lost by name
  bool spares_lost = false;                         ///< workers that are gone are left out, and not missed
  std::optional<std::size_t> only = std::nullopt;   ///< this worker, and no other
};

}  // namespace route
}  // namespace twinkle
