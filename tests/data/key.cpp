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

TEST_CASE("a routed key is of the same type, and a row of it has at most 64 bytes") {
  constexpr auto fits = twinkle::routed(column<double>{"fits", {8}});
  CHECK(type_of(fits).routed);
  CHECK(type_of(fits) == type_of(column<double>{"fits", {8}}));
  CHECK_THROWS_WITH_AS((void)twinkle::routed(column<float>{"image", {4, 5}}),
                       "column 'image' cannot be routed: a row of it has 80 bytes; at most 64 travel with a description",
                       twinkle::error);
}

TEST_CASE("a row without dimensions is one number") {
  CHECK(row_shape{}.width() == 1);
  CHECK(row_shape{3, 4}.width() == 12);
  CHECK(row_shape{3, 0}.width() == 0);
}
