// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/key.hpp"

#include <doctest/doctest.h>

using twinkle::column;
using twinkle::ragged;
using twinkle::row_shape;
using twinkle::text;
using twinkle::type_of;

TEST_CASE("a key's type reads as one writes it") {
  CHECK(to_string(type_of(column<float>{"reward"})) == "f32");
  CHECK(to_string(type_of(column<float>{"image", {3, 4}})) == "f32[3,4]");
  CHECK(to_string(type_of(ragged<std::int32_t>{"tokens"})) == "ragged i32");
  CHECK(to_string(type_of(text{"prompt"})) == "text");
}

TEST_CASE("a row without dimensions is one number") {
  CHECK(row_shape{}.width() == 1);
  CHECK(row_shape{3, 4}.width() == 12);
  CHECK(row_shape{3, 0}.width() == 0);
}
