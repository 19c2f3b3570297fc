// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <optional>

#include "twinkle/base/error.hpp"
#include "twinkle/flow/call.hpp"

namespace twinkle::route {
namespace {

fault at(const team& workers, const returned& from, const std::string& endpoint, std::string cause) {
  return {workers.places[from.worker], endpoint, from.rows, std::move(cause)};
}

// One identity from two workers that were given different rows would be trained twice.
std::optional<std::string> find_shared_row(const team& workers, std::span<const returned* const> kept,
                                           std::span<const batch> parts) {
  std::vector<std::pair<identity, std::size_t>> ids;
  for (std::size_t at = 0; at < parts.size(); ++at)
    if (parts[at].identified())
      for (const row_tag& tag : parts[at].tags())
        ids.emplace_back(tag.id, kept[at]->worker);
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice == ids.end())
    return std::nullopt;
  return "row " + to_string(twice->first) + " came from " + workers.places[twice->second] + " and from " +
         workers.places[std::next(twice)->second] + ", which are no replicas of each other";
}

// Each part has its rows in the order in which they were picked; back into the order of the input.
result<batch> in_input_order(const batch& input, std::span<const returned* const> kept, const batch& joined) {
  if (joined.identified() && input.identified()) {
    auto rows = rows_by_parent(input, joined);
    if (auto* wrong = std::get_if<std::string>(&rows))
      return fault{"", "", std::nullopt, std::move(*wrong)};
    return std::get<batch>(std::move(rows));
  }
  if (joined.empty())
    return joined;
  std::vector<std::size_t> order(joined.rows(), joined.rows());
  std::size_t at = 0;
  for (const returned* each : kept)
    if (!each->padding)
      for (const std::size_t row : *each->picked) {
        if (row >= order.size() || order[row] != order.size())
          return fault{"", "", std::nullopt,
                       "its rows have no identities, and cannot be put back into the order of the input"};
        order[row] = at++;
      }
  return joined.take(order);
}

result<collected> join_rows(const team& workers, const call& of, std::span<const returned> results) {
  const std::vector<const returned*> kept = that_count(results);
  std::vector<batch> parts;
  for (const returned* each : kept) {
    const auto* value = std::get_if<batch>(&each->value);
    const batch* given = rows_in(each->given);
    if (value == nullptr)
      return at(workers, *each, of.endpoint, "it returned no batch, and collect concat needs one");
    if (given == nullptr) {  // rows of an endpoint that takes none are new
      parts.push_back(*value);
      continue;
    }
    auto rows = rows_by_parent(*given, *value);
    if (auto* wrong = std::get_if<std::string>(&rows))
      return at(workers, *each, of.endpoint, std::move(*wrong));
    auto& part = std::get<batch>(rows);
    parts.push_back(each->padding ? batch{} : std::move(part));
  }
  const bool picked = std::any_of(kept.begin(), kept.end(), [](const returned* each) { return each->picked != nullptr; });
  try {
    batch joined = batch::concat(parts);
    if (picked) {
      if (auto twice = find_shared_row(workers, kept, parts))
        return fault{workers.stage, of.endpoint, std::nullopt, std::move(*twice)};
      auto ordered = in_input_order(*rows_in(of.input), kept, joined);
      if (!ordered)
        return fault{workers.stage, of.endpoint, std::nullopt, ordered.failure().cause};
      joined = std::move(ordered).value();
    }
    return collected{payload{std::move(joined)}};
  } catch (const error& wrong) {
    return fault{workers.stage, of.endpoint, std::nullopt, wrong.what()};
  }
}

double real_rows(const returned& part) {
  if (part.padding)
    return 0;
  const batch* rows = rows_in(part.given);
  if (rows == nullptr)
    return 1;
  if (!rows->identified())
    return static_cast<double>(rows->rows());
  const auto tags = rows->tags();
  return static_cast<double>(std::count_if(tags.begin(), tags.end(), [](const row_tag& tag) { return !tag.padding; }));
}

result<collected> join_metrics(const team& workers, const call& of, bool sum, std::span<const returned> results) {
  std::vector<weighted_metrics> parts;
  for (const returned* each : that_count(results)) {
    const auto* value = std::get_if<metrics>(&each->value);
    if (value == nullptr)
      return at(workers, *each, of.endpoint, "it returned no metrics, and collect sum or mean needs them");
    if (!each->padding)
      parts.push_back({*value, real_rows(*each)});
  }
  return collected{payload{sum ? add(parts) : merge(parts)}};
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

collected last_stage(const team& workers, std::span<const returned> results, bool first) {
  std::vector<payload> values;
  for (const std::size_t worker : workers.representatives)
    if (worker < results.size())
      values.push_back(results[worker].value);
  if (first && !values.empty())
    return collected{std::move(values.front())};
  return collected{std::move(values)};
}

collect by_type(std::span<const returned> results) {
  const payload& like = results.front().value;
  if (std::holds_alternative<batch>(like))
    return collect::concat;
  return std::holds_alternative<metrics>(like) ? collect::mean : collect::each;
}

}  // namespace

std::vector<const returned*> that_count(std::span<const returned> results) {
  std::vector<const returned*> kept;
  kept.reserve(results.size());
  for (const returned& each : results)
    if (!each.replica)
      kept.push_back(&each);
  const auto earlier = [](const returned* a, const returned* b) { return a->rows.first < b->rows.first; };
  if (!std::is_sorted(kept.begin(), kept.end(), earlier))
    std::stable_sort(kept.begin(), kept.end(), earlier);
  return kept;
}

namespace {

result<collected> by_function(const team& workers, const call& of, std::span<const returned> results) {
  std::string said = "collect function is given without a function; use results_by(function)";
  try {
    if (of.result.how != nullptr && *of.result.how)
      return (*of.result.how)(workers, results);
  } catch (const std::exception& wrong) {
    said = wrong.what();
  } catch (...) {
    said = "its collect function threw something that is no std::exception";
  }
  return fault{workers.stage, of.endpoint, std::nullopt, std::move(said)};
}

}  // namespace

result<collected> collect_in_order(const team& workers, const call& of, std::span<const returned> results) {
  collect how = of.result.kind;
  if (how == collect::by_type) {
    const auto is = [&]<class T>(std::in_place_type_t<T>) {
      return std::all_of(results.begin(), results.end(),
                         [](const returned& each) { return std::holds_alternative<T>(each.value); });
    };
    if (is(std::in_place_type<weights>))
      return join_weights(workers, of.endpoint, results);
    if (is(std::in_place_type<std::monostate>))
      return collected{payload{}};
    how = by_type(results);
  }
  switch (how) {
    case collect::concat: return join_rows(workers, of, results);
    case collect::sum:
    case collect::mean: return join_metrics(workers, of, how == collect::sum, results);
    case collect::first: return collected{results.front().value};
    case collect::last_pp:
    case collect::last_pp_first: return last_stage(workers, results, how == collect::last_pp_first);
    case collect::function: return by_function(workers, of, results);
    case collect::each:
    case collect::by_type: break;
  }
  std::vector<payload> values;
  for (const returned& each : results)
    values.push_back(each.value);
  return collected{std::move(values)};
}

}  // namespace twinkle::route
