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

TEST_CASE("case K-F8: a run that goes on behind a step may start what the versions of that step allow, and no row more") {
  for (const std::size_t bound : {0, 1, 3})
    for (const std::size_t rows_per_step : {1, 4}) {
      // Where each row and each load is, without a stop.
      admission whole{bound, rows_per_step};
      whole.loaded();
      std::vector<std::size_t> version_of;
      for (std::size_t version = 0; version_of.size() < 10 * rows_per_step; ++version, whole.loaded())
        for (; !whole.due(); whole.admit(1))
          version_of.push_back(version);
      for (std::size_t step = 1; step < 8; ++step) {
        admission resumed{bound, rows_per_step, step};
        CHECK(resumed.room() == 0);  // before it has the oldest version that is in use
        std::size_t version = step - std::min(step, bound);
        resumed.loaded();
        for (std::size_t row = step * rows_per_step; row < 10 * rows_per_step; ++row) {
          for (; resumed.due(); ++version)
            resumed.loaded();
          CHECK(version_of[row] == version);
          resumed.admit(1);
        }
      }
    }
}
