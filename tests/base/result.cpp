// SPDX-License-Identifier: Apache-2.0
#include "twinkle/base/result.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using twinkle::fault;
using twinkle::result;

TEST_CASE("a result holds its value") {
  const result<int> seven = 7;
  REQUIRE(seven.has_value());
  CHECK(static_cast<bool>(seven));
  CHECK(seven.value() == 7);
}

TEST_CASE("a result holds the fault that stands in place of the value") {
  const result<int> failed = fault{.place = "judge[0]", .endpoint = "score", .cause = "no answer"};
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.failure().cause == "no answer");
}

TEST_CASE("the value can be moved out of a result") {
  result<std::unique_ptr<int>> owner = std::make_unique<int>(3);
  const std::unique_ptr<int> taken = std::move(owner).value();
  CHECK(*taken == 3);
}
