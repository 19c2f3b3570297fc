// SPDX-License-Identifier: Apache-2.0
#include "twinkle/base/list.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using twinkle::list;
using twinkle::list_of_numbers;

TEST_CASE("a list has commas between its items, and none around them") {
  CHECK(list(std::vector<std::string>{"a", "b", "c"}) == "a, b, c");
  CHECK(list(std::vector<std::string>{"a", "b"}, " x ") == "a x b");
  CHECK(list(std::vector<std::string>{}).empty());
}

TEST_CASE("a list keeps an empty first item") { CHECK(list(std::vector<std::string>{"", "b"}) == ", b"); }

TEST_CASE("a list of numbers has no spaces") {
  CHECK(list_of_numbers(std::vector<int>{1, -2, 3}) == "1,-2,3");
  CHECK(list_of_numbers(std::vector<int>{}).empty());
}
