// SPDX-License-Identifier: Apache-2.0
#include "twinkle/base/time.hpp"

#include <doctest/doctest.h>

using namespace std::chrono_literals;
using twinkle::seconds;
using twinkle::to_string;

TEST_CASE("a duration is shown in the unit that reads best") {
  CHECK(to_string(4213ms) == "4.213s");
  CHECK(to_string(1s) == "1.000s");
  CHECK(to_string(12ms) == "12ms");
  CHECK(to_string(1500us) == "1.5ms");
  CHECK(to_string(350us) == "350us");
  CHECK(to_string(20ns) == "20ns");
  CHECK(to_string(0ns) == "0ns");
}

TEST_CASE("seconds are a number to calculate with") { CHECK(seconds(1500ms) == doctest::Approx(1.5)); }
