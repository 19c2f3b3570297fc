// SPDX-License-Identifier: Apache-2.0
#include "data/utf8.hpp"

#include <doctest/doctest.h>

#include <string_view>

using namespace std::string_view_literals;
using twinkle::data::is_utf8;

TEST_CASE("text of one to four bytes a letter is utf-8") {
  CHECK(is_utf8(""));
  CHECK(is_utf8("plain\0and zero"sv));
  CHECK(is_utf8("\xc3\xa9\xe4\xb8\xad\xf0\x9f\x8c\x9f"));
  CHECK(is_utf8("\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"));
}

TEST_CASE("bytes that stand alone or end too soon are not utf-8") {
  CHECK_FALSE(is_utf8("\xff"));
  CHECK_FALSE(is_utf8("\x80"));
  CHECK_FALSE(is_utf8("a\xc3"));
  CHECK_FALSE(is_utf8("\xe4\xb8"));
  CHECK_FALSE(is_utf8("\xf0\x9f\x8c"));
  CHECK_FALSE(is_utf8("\xc3\x28"));
  CHECK_FALSE(is_utf8("\xe4\xb8\xc3\xa9"));
}

TEST_CASE("overlong forms, surrogates and what lies above the last letter are not utf-8") {
  CHECK_FALSE(is_utf8("\xc0\x80"));
  CHECK_FALSE(is_utf8("\xe0\x9f\xbf"));
  CHECK_FALSE(is_utf8("\xf0\x8f\xbf\xbf"));
  CHECK_FALSE(is_utf8("\xed\xa0\x80"));
  CHECK_FALSE(is_utf8("\xf4\x90\x80\x80"));
  CHECK_FALSE(is_utf8("\xf8\x88\x80\x80\x80"));
}
