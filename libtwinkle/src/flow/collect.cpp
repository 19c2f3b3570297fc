// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "twinkle/base/error.hpp"
#include "twinkle/flow/collected.hpp"

namespace twinkle::route {
namespace {

fault at(const team& workers, const returned& from, const std::string& endpoint, std::string cause) {
  return {workers.places[from.worker], endpoint, from.rows, std::move(cause)};
}

// One result per data rank, in data-rank order. Where everyone had the whole batch, those after the first are replicas.
// Results are in the order of workers, and of all of them unless the call went to the first: a worker's result is at its
// own index.
std::vector<const returned*> without_replicas(const team& workers, std::span<const returned> results) {
  std::vector<const returned*> kept;
  kept.reserve(workers.representatives.size());
  for (const std::size_t worker : workers.representatives)
    if (worker < results.size() &&
        (kept.empty() || results[worker].rows.empty() || results[worker].rows != kept.back()->rows))
      kept.push_back(&results[worker]);
  if (kept.empty() && !results.empty())
    kept.push_back(&results.front());
  return kept;
}

result<collected> join_rows(const team& workers, const std::string& endpoint, std::span<const returned> results) {
  std::vector<batch> parts;
  for (const returned* each : without_replicas(workers, results)) {
    const auto* value = std::get_if<batch>(&each->value);
    const auto* given = std::get_if<batch>(&each->given);
    if (value == nullptr || given == nullptr)
      return at(workers, *each, endpoint, "it returned no batch, and collect concat needs one");
    auto rows = rows_by_parent(*given, *value);
    if (auto* wrong = std::get_if<std::string>(&rows))
      return at(workers, *each, endpoint, std::move(*wrong));
    parts.push_back(std::get<batch>(std::move(rows)));
  }
  try {
    return collected{payload{batch::concat(parts)}};
  } catch (const error& wrong) {
    return fault{workers.stage, endpoint, std::nullopt, wrong.what()};
  }
}

double real_rows(const payload& given) {
  const auto* rows = std::get_if<batch>(&given);
  if (rows == nullptr)
    return 1;
  if (!rows->identified())
    return static_cast<double>(rows->rows());
  const auto tags = rows->tags();
  return static_cast<double>(std::count_if(tags.begin(), tags.end(), [](const row_tag& tag) { return !tag.padding; }));
}

result<collected> join_metrics(const team& workers, collect how, const std::string& endpoint,
                               std::span<const returned> results) {
  std::vector<weighted_metrics> parts;
  for (const returned* each : without_replicas(workers, results)) {
    const auto* value = std::get_if<metrics>(&each->value);
    if (value == nullptr)
      return at(workers, *each, endpoint, "it returned no metrics, and collect sum or mean needs them");
    parts.push_back({*value, real_rows(each->given)});
  }
  return collected{payload{how == collect::sum ? add(parts) : merge(parts)}};
}

result<collected> join_weights(const team& workers, const std::string& endpoint, std::span<const returned> results) {
  std::vector<weights> parts;
  for (const returned& each : results)
    parts.push_back(std::get<weights>(each.value));
  try {
    return collected{payload{assemble(parts)}};
  } catch (const error& wrong) {
    return fault{workers.stage, endpoint, std::nullopt, wrong.what()};
  }
}

collect by_type(std::span<const returned> results) {
  const payload& like = results.front().value;
  if (std::holds_alternative<batch>(like))
    return collect::concat;
  return std::holds_alternative<metrics>(like) ? collect::mean : collect::each;
}

}  // namespace

result<collected> collect_in_order(const team& workers, collect how, const std::string& endpoint,
                                   std::span<const returned> results) {
  if (how == collect::by_type) {
    const auto is = [&]<class T>(std::in_place_type_t<T>) {
      return std::all_of(results.begin(), results.end(),
                         [](const returned& each) { return std::holds_alternative<T>(each.value); });
    };
    if (is(std::in_place_type<weights>))
      return join_weights(workers, endpoint, results);
    if (is(std::in_place_type<std::monostate>))
      return collected{payload{}};
    how = by_type(results);
  }
  switch (how) {
    case collect::concat: return join_rows(workers, endpoint, results);
    case collect::sum:
    case collect::mean: return join_metrics(workers, how, endpoint, results);
    case collect::first: return collected{results.front().value};
    case collect::each:
    case collect::by_type: break;
  }
  std::vector<payload> values;
  for (const returned& each : results)
    values.push_back(each.value);
  return collected{std::move(values)};
}

}  // namespace twinkle::route
