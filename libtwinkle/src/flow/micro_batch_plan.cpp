// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/micro_batch_plan.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "twinkle/base/error.hpp"
#include "twinkle/flow/split.hpp"

namespace twinkle {
namespace {

constexpr std::size_t number_max = std::size_t{1} << 12;

void check_number(std::string_view name, std::size_t number) {
  if (number < 1 || number > number_max)
    throw error("micro-batches: " + std::string(name) + " is " + std::to_string(number) + "; it must be from 1 to " +
                std::to_string(number_max));
}

std::vector<micro_batch> micro_batches(std::span<const std::uint64_t> costs, std::uint64_t cap, std::size_t at_least) {
  std::vector<micro_batch> made;
  split rows = pack(costs, cap, std::min(at_least, costs.size()));
  for (std::size_t part = 0; part < rows.parts.size(); ++part)
    made.push_back({std::move(rows.parts[part]), false, rows.costs[part] > cap});
  return made;
}

void add_dummies(std::vector<micro_batch>& made, std::span<const std::uint64_t> costs, std::size_t number) {
  micro_batch dummy{{}, true, false};
  if (!costs.empty())
    dummy.rows.push_back(static_cast<std::size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin()));
  made.resize(std::max(made.size(), number), dummy);
}

[[noreturn]] void refuse_dummies(const micro_batch_plan& plan, std::size_t number) {
  std::size_t real = 0;
  for (const auto& made : plan.ranks)
    real += made.size();
  const auto lacking = std::find_if(plan.ranks.begin(), plan.ranks.end(),
                                    [&](const auto& made) { return made.size() < number; });
  throw error("micro-batches: the rows make " + std::to_string(real) + ", but " +
              std::to_string(number * plan.ranks.size()) + " have to run, " + std::to_string(number) +
              " on each data rank; data rank " + std::to_string(lacking - plan.ranks.begin()) + " makes " +
              std::to_string(lacking->size()) + "; send it more rows, or allow dummies");
}

}  // namespace

micro_batch_plan plan_micro_batches(std::span<const std::vector<std::uint64_t>> costs,
                                    const micro_batch_options& how) {
  check_number("at_least", how.at_least);
  check_number("multiple_of", how.multiple_of);
  micro_batch_plan plan;
  std::size_t number = how.at_least;
  for (const auto& rank : costs) {
    plan.ranks.push_back(micro_batches(rank, how.cap, how.at_least));
    number = std::max(number, plan.ranks.back().size());
  }
  number = (number + how.multiple_of - 1) / how.multiple_of * how.multiple_of;
  for (std::size_t rank = 0; rank < costs.size(); ++rank) {
    std::vector<micro_batch>& made = plan.ranks[rank];
    if (made.size() < number && !how.allow_dummies)
      made = micro_batches(costs[rank], how.cap, number);
    if (how.allow_dummies)
      add_dummies(made, costs[rank], number);
  }
  if (std::any_of(plan.ranks.begin(), plan.ranks.end(), [&](const auto& made) { return made.size() < number; }))
    refuse_dummies(plan, number);
  return plan;
}

}  // namespace twinkle
