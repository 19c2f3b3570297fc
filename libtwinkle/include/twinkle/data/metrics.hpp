// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace twinkle {

/// How the values of one metric from several workers become one.
enum class rule : std::uint8_t { mean, sum, max };

struct metric {
  std::string name;
  double value = 0;
  std::optional<double> weight = std::nullopt;  ///< of a mean; unset: the real rows of the worker that returns it
  rule how = rule::mean;
};

/// Named numbers in the order in which they were added.
class metrics {
 public:
  metrics& mean(std::string_view name, double value);
  metrics& mean(std::string_view name, double value, double weight);
  metrics& sum(std::string_view name, double value);
  metrics& max(std::string_view name, double value);

  [[nodiscard]] std::optional<double> find(std::string_view name) const;
  [[nodiscard]] const std::vector<metric>& items() const { return items_; }

 private:
  std::vector<metric> items_;
};

/// Metrics of one worker and how many real rows it worked on.
struct weighted_metrics {
  metrics values;
  double rows = 0;
};

/// One value per name, by its rule: sum, max, or the mean weighted by the metric's weight, else by rows. The mean of no
/// weight at all is not a number. Names keep the order in which they are first met.
[[nodiscard]] metrics merge(std::span<const weighted_metrics> parts);

/// The same, but every metric is added up, whatever its rule.
[[nodiscard]] metrics add(std::span<const weighted_metrics> parts);

}  // namespace twinkle
