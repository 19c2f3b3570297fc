// SPDX-License-Identifier: Apache-2.0
#include "twinkle/base/digest.hpp"

#include <doctest/doctest.h>

using twinkle::digest;
using twinkle::hexadecimal;

TEST_CASE("a digest depends on the numbers and on their order") {
  CHECK(digest{}.add(1).add(2).value() == digest{}.add(1).add(2).value());
  CHECK(digest{}.add(1).add(2).value() != digest{}.add(2).add(1).value());
  CHECK(digest{}.value() != digest{}.add(0).value());
}

TEST_CASE("a digest sees where one text ends and the next begins") {
  CHECK(digest{}.add("ab").add("c").value() != digest{}.add("a").add("bc").value());
  CHECK(digest{}.add("").value() != digest{}.value());
}

TEST_CASE("a hexadecimal number has sixteen digits") {
  CHECK(hexadecimal(0) == "0000000000000000");
  CHECK(hexadecimal(0x9e3779b97f4a7c15ULL) == "9e3779b97f4a7c15");
}
