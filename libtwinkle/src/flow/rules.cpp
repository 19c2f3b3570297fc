// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/rules.hpp"

#include <memory>
#include <optional>
#include <string>

#include "twinkle/base/error.hpp"

namespace twinkle {
namespace {

template <class T>
row_costs costs_in(column<T> key) {
  const auto read = [key](const batch& rows) {
    std::vector<std::uint64_t> costs;
    if (rows.empty())
      return costs;
    for (const T cost : rows[key]) {
      if (cost < 0)
        throw error("column '" + std::string(key.name) + "': row " + std::to_string(costs.size()) + " costs " +
                    std::to_string(cost) + "; a cost is 0 or more");
      costs.push_back(static_cast<std::uint64_t>(cost));
    }
    return costs;
  };
  return {read, key.routed ? "" : std::string(key.name)};
}

}  // namespace

row_costs costs_of(column<std::int64_t> key) { return costs_in(key); }
row_costs costs_of(column<std::int32_t> key) { return costs_in(key); }

row_costs costs_of(text key) {
  return {[key](const batch& rows) { return rows.empty() ? std::vector<std::uint64_t>{} : rows.lengths(key.name); }};
}

dispatch_rule asked_once(const dispatch_rule& of) {
  if (of.how == nullptr || !of.how->rows)
    return of;
  dispatch_rule::details once = *of.how;
  once.rows = [ask = of.how->rows, said = std::make_shared<std::optional<std::vector<std::vector<std::size_t>>>>()](
                  const batch& rows, const route::team& workers) {
    if (!*said)
      *said = ask(rows, workers);
    return **said;
  };
  return {of.kind, std::move(once)};
}

}  // namespace twinkle
