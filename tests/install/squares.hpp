// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <twinkle/flow/context.hpp>
#include <twinkle/flow/graph.hpp>
#include <utility>
#include <vector>

inline constexpr twinkle::column<std::int64_t> number{"number"};

struct counter {
  std::optional<twinkle::batch> next(twinkle::context&) {
    if (made == 3)
      return std::nullopt;
    const std::int64_t first = 4 * made++;
    return twinkle::batch{}.with(number, {first, first + 1, first + 2, first + 3});
  }
  std::int64_t made = 0;
};

struct squarer {
  twinkle::batch square(twinkle::context&, twinkle::batch rows) {
    std::vector<std::int64_t> squares;
    for (const std::int64_t each : rows[number])
      squares.push_back(each * each);
    return rows.with(number, std::move(squares));
  }
};

struct summer {
  twinkle::metrics add(twinkle::context&, twinkle::batch rows) {
    double sum = 0;
    for (const std::int64_t each : rows[number])
      sum += static_cast<double>(each);
    return twinkle::metrics{}.sum("sum", sum);
  }
};

inline void build_squares(twinkle::graph& g) {
  const twinkle::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
  const twinkle::device_group pool{.name = "pool", .ranks = 2};
  auto numbers = g.spawn<counter>("counter", {host}).emits(&counter::next, {.rows = 4});
  numbers.to(g.spawn<squarer>("squarer", {pool}), &squarer::square)
      .to(g.spawn<summer>("summer", {host}), &summer::add)
      .stop_after(3);
}

inline twinkle::graph squares() {
  twinkle::graph g{"squares"};
  build_squares(g);
  return g;
}
