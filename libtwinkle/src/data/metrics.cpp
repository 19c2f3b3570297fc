// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace twinkle {
namespace {

struct total {
  metric value;
  double weight = 0;
};

total& find_or_add(std::vector<total>& totals, const metric& like) {
  const auto found = std::find_if(totals.begin(), totals.end(), [&](const total& t) { return t.value.name == like.name; });
  if (found != totals.end())
    return *found;
  const double start = like.how == rule::max ? -std::numeric_limits<double>::infinity() : 0.0;
  totals.push_back({{like.name, start, std::nullopt, like.how}, 0});
  return totals.back();
}

void take(total& into, const metric& item, double rows) {
  const double weight = item.weight.value_or(rows);
  switch (into.value.how) {
    case rule::sum: into.value.value += item.value; break;
    case rule::max:
      if (!(item.value <= into.value.value) && !std::isnan(into.value.value))  // a NaN is kept, not hidden
        into.value.value = item.value;
      break;
    case rule::mean:
      if (weight == 0)
        return;  // a worker without rows may return any value
      into.value.value += item.value * weight;
      into.weight += weight;
      break;
  }
}

}  // namespace

metrics& metrics::mean(std::string_view name, double value) {
  items_.push_back({std::string(name), value});
  return *this;
}

metrics& metrics::mean(std::string_view name, double value, double weight) {
  items_.push_back({std::string(name), value, weight});
  return *this;
}

metrics& metrics::sum(std::string_view name, double value) {
  items_.push_back({std::string(name), value, std::nullopt, rule::sum});
  return *this;
}

metrics& metrics::max(std::string_view name, double value) {
  items_.push_back({std::string(name), value, std::nullopt, rule::max});
  return *this;
}

std::optional<double> metrics::find(std::string_view name) const {
  for (const metric& item : items_)
    if (item.name == name)
      return item.value;
  return std::nullopt;
}

metrics merge(std::span<const weighted_metrics> parts) {
  std::vector<total> totals;
  for (const weighted_metrics& part : parts)
    for (const metric& item : part.values.items())
      take(find_or_add(totals, item), item, part.rows);
  metrics merged;
  for (const total& each : totals) {
    const auto& [name, value, weight, how] = each.value;
    if (how == rule::sum)
      merged.sum(name, value);
    else if (how == rule::max)
      merged.max(name, value);
    else
      merged.mean(name, each.weight == 0 ? std::numeric_limits<double>::quiet_NaN() : value / each.weight, each.weight);
  }
  return merged;
}

metrics add(std::span<const weighted_metrics> parts) {
  std::vector<total> totals;
  for (const weighted_metrics& part : parts)
    for (metric item : part.values.items()) {
      item.how = rule::sum;
      take(find_or_add(totals, item), item, part.rows);
    }
  metrics sums;
  for (const total& each : totals)
    sums.sum(each.value.name, each.value.value);
  return sums;
}

}  // namespace twinkle
