// SPDX-License-Identifier: Apache-2.0
#include "twinkle/base/shell_word.hpp"

#include <doctest/doctest.h>

using twinkle::shell_word;

TEST_CASE("a word is quoted for a shell only where it needs it") {
  CHECK(shell_word("./run-1.5_x") == "./run-1.5_x");
  CHECK(shell_word("--mesh=dp=2,tp:+3") == "--mesh=dp=2,tp:+3");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("two words") == "'two words'");
  CHECK(shell_word("$HOME;*") == "'$HOME;*'");
  CHECK(shell_word("it's") == R"('it'\''s')");
}
