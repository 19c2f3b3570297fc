// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/admission.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using twinkle::admission;

TEST_CASE("no row is admitted before version 0") {
  admission gate{2, 10};
  CHECK(gate.room() == 0);
  CHECK(gate.due());
  gate.loaded();
  CHECK(gate.room() == 30);
  CHECK_FALSE(gate.due());
}

TEST_CASE("with a bound of k and R rows a step, version v is placed right after row (v + k) x R") {
  for (const std::size_t bound : {0, 1, 3})
    for (const std::size_t rows_per_step : {1, 4, 7})
      for (const std::size_t at_a_time : {1, 3, 100}) {
        admission gate{bound, rows_per_step};
        gate.loaded();
        std::size_t admitted = 0;
        std::vector<std::size_t> placed_after;
        while (placed_after.size() < 5) {
          if (gate.due()) {
            placed_after.push_back(admitted);
            gate.loaded();
          }
          const std::size_t taken = std::min(at_a_time, gate.room());
          gate.admit(taken);
          admitted += taken;
        }
        for (std::size_t version = 1; version <= 5; ++version)
          CHECK(placed_after[version - 1] == (version + bound) * rows_per_step);
      }
}
