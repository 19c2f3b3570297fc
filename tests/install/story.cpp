// SPDX-License-Identifier: Apache-2.0
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <twinkle/testing/simulation.hpp>

#include "squares.hpp"

TEST_CASE_FIXTURE(twinkle::sim::simulation, "the squares of twelve numbers are added up") {
  const auto seen = run(build_squares, std::chrono::minutes(1));
  CHECK(seen.steps("summer") == 3);
  CHECK(seen.trained() == 12);
}
