// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/metrics.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "twinkle/base/interval.hpp"

using twinkle::interval;
using twinkle::merge;
using twinkle::metric;
using twinkle::metrics;
using twinkle::weighted_metrics;

TEST_CASE("case K-D9: the mean of 0..6 over 4 ranks is that of 7 rows") {
  std::vector<weighted_metrics> parts;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const interval rows = twinkle::even_part(7, 4, rank);
    double sum = 0;
    for (std::size_t row = rows.first; row < rows.end; ++row)
      sum += static_cast<double>(row);
    const auto count = static_cast<double>(rows.size());
    parts.push_back({metrics{}.mean("value", sum / count), count});
  }
  CHECK(*merge(parts).find("value") == 3.0);
}

TEST_CASE("a mean with a weight of its own is weighted by that") {
  const std::array parts{weighted_metrics{metrics{}.mean("loss", 1.0, 30), 1},
                         weighted_metrics{metrics{}.mean("loss", 4.0, 10), 9}};
  CHECK(*merge(parts).find("loss") == doctest::Approx(1.75));
}

TEST_CASE("a worker without rows does not change a mean, whatever it returns") {
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  const std::array parts{weighted_metrics{metrics{}.mean("loss", 2.0), 3},
                         weighted_metrics{metrics{}.mean("loss", nothing), 0}};
  CHECK(*merge(parts).find("loss") == 2.0);
}

TEST_CASE("the mean of no rows at all is not a number") {
  const std::array parts{weighted_metrics{metrics{}.mean("loss", 2.0), 0}};
  CHECK(std::isnan(*merge(parts).find("loss")));
}

TEST_CASE("sums and maxima ignore weights") {
  const std::array parts{weighted_metrics{metrics{}.sum("tokens", 5).max("length", -3), 1},
                         weighted_metrics{metrics{}.sum("tokens", 6).max("length", -7), 9}};
  CHECK(*merge(parts).find("tokens") == 11);
  CHECK(*merge(parts).find("length") == -3);
}

TEST_CASE("a maximum that is not a number is not hidden by the others") {
  const double bad = std::numeric_limits<double>::quiet_NaN();
  const std::array parts{weighted_metrics{metrics{}.max("gradient", 1), 1},
                         weighted_metrics{metrics{}.max("gradient", bad), 1},
                         weighted_metrics{metrics{}.max("gradient", 2), 1}};
  CHECK(std::isnan(*merge(parts).find("gradient")));
}

TEST_CASE("merged metrics keep their order and rules, so that they can be merged again") {
  const std::array parts{weighted_metrics{metrics{}.mean("loss", 1.0).sum("tokens", 5), 2},
                         weighted_metrics{metrics{}.max("length", 3).mean("loss", 4.0), 1}};
  const metrics merged = merge(parts);
  std::vector<std::string> names;
  for (const metric& each : merged.items())
    names.push_back(each.name);
  CHECK(names == std::vector<std::string>{"loss", "tokens", "length"});
  const std::array once_more{weighted_metrics{merged, 1}, weighted_metrics{metrics{}.mean("loss", 8.0), 3}};
  CHECK(*merge(once_more).find("loss") == doctest::Approx((1.0 * 2 + 4.0 * 1 + 8.0 * 3) / 6));
}

TEST_CASE("metrics can be added up whatever their rule") {
  const std::array parts{weighted_metrics{metrics{}.mean("loss", 1.0).max("length", 2), 7},
                         weighted_metrics{metrics{}.mean("loss", 4.0).max("length", 3), 1}};
  CHECK(*twinkle::add(parts).find("loss") == 5.0);
  CHECK(*twinkle::add(parts).find("length") == 5.0);
}

TEST_CASE("a metric that nobody returned is not found") {
  CHECK_FALSE(merge({}).find("loss").has_value());
  CHECK(merge({}).items().empty());
}
