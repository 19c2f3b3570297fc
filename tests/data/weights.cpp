// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/weights.hpp"

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <vector>

#include "twinkle/base/error.hpp"

using twinkle::assemble;
using twinkle::buffer;
using twinkle::element;
using twinkle::named_tensor;
using twinkle::shard;
using twinkle::tensor;
using twinkle::weights;
using floats = std::vector<float>;
using sizes = std::vector<std::size_t>;

namespace {

tensor tensor_of(const sizes& shape, const floats& values, std::optional<shard> part = std::nullopt) {
  return {element::f32, shape, buffer::of(values), part};
}

weights one(tensor value) { return weights{{{"w", std::move(value)}}}; }

floats values_of(const tensor& from) {
  return {from.values.as<float>(), from.values.as<float>() + from.values.bytes() / sizeof(float)};
}

}  // namespace

TEST_CASE("weights find a tensor by its name, and copies share it") {
  const weights made{{{"a", tensor_of({2}, {1, 2})}, {"b", tensor_of({1}, {3})}}, 7};
  CHECK(made.version() == 7);
  REQUIRE(made.find("b") != nullptr);
  CHECK(values_of(*made.find("b")) == floats{3});
  CHECK(made.find("c") == nullptr);
  const weights later = made.at_version(8);
  CHECK(later.version() == 8);
  CHECK(later.find("a") == made.find("a"));
  CHECK(weights{}.tensors().empty());
}

TEST_CASE("shards are put together in the order of their intervals, whatever rank holds them") {
  const std::array parts{one(tensor_of({1, 2}, {5, 6}, shard{0, {2, 3}, 3})),
                         one(tensor_of({2, 2}, {1, 2, 3, 4}, shard{0, {0, 2}, 3}))};
  const weights whole = assemble(parts);
  CHECK(whole.find("w")->shape == sizes{3, 2});
  CHECK_FALSE(whole.find("w")->part.has_value());
  CHECK(values_of(*whole.find("w")) == floats{1, 2, 3, 4, 5, 6});
}

TEST_CASE("shards along an inner dimension are woven together") {
  const std::array parts{one(tensor_of({2, 1}, {1, 4}, shard{1, {0, 1}, 3})),
                         one(tensor_of({2, 2}, {2, 3, 5, 6}, shard{1, {1, 3}, 3}))};
  CHECK(values_of(*assemble(parts).find("w")) == floats{1, 2, 3, 4, 5, 6});
}

TEST_CASE("replicas are taken once and not copied") {
  const tensor replica = tensor_of({2}, {1, 2});
  const std::array parts{one(replica), one(tensor_of({2}, {1, 2}))};
  CHECK(assemble(parts).find("w")->values.data() == replica.values.data());

  const std::array shards{one(tensor_of({1}, {1}, shard{0, {0, 1}, 2})), one(tensor_of({1}, {1}, shard{0, {0, 1}, 2})),
                          one(tensor_of({1}, {2}, shard{0, {1, 2}, 2}))};
  CHECK(values_of(*assemble(shards).find("w")) == floats{1, 2});
}

TEST_CASE("tensors keep the order in which they are first met") {
  const std::array parts{weights{{{"b", tensor_of({1}, {1})}}}, weights{{{"a", tensor_of({1}, {2})}}}};
  const weights whole = assemble(parts);
  CHECK(whole.tensors()[0].name == "b");
  CHECK(whole.tensors()[1].name == "a");
}

TEST_CASE("missing and overlapping parts are refused by name") {
  const tensor first = tensor_of({1}, {1}, shard{0, {0, 1}, 3});
  const tensor last = tensor_of({1}, {3}, shard{0, {2, 3}, 3});
  const tensor both = tensor_of({2}, {1, 2}, shard{0, {0, 2}, 3});
  CHECK_THROWS_WITH_AS((void)assemble(std::array{one(first), one(last)}),
                       "weights: tensor 'w' lacks or repeats what lies at 1 of 3; the next part is [2,3)",
                       twinkle::error);
  CHECK_THROWS_WITH_AS((void)assemble(std::array{one(both)}), "weights: tensor 'w' ends at 2 of 3", twinkle::error);
  CHECK_THROWS_AS((void)assemble(std::array{one(first), one(both), one(last)}), twinkle::error);
  CHECK_THROWS_AS((void)assemble(std::array{one(last)}), twinkle::error);
}

TEST_CASE("parts that are of different tensors are refused before any number is read") {
  const tensor wide = tensor_of({1, 4}, {1, 2, 3, 4}, shard{0, {0, 1}, 2});
  const tensor narrow = tensor_of({1, 2}, {5, 6}, shard{0, {1, 2}, 2});
  CHECK_THROWS_WITH_AS((void)assemble(std::array{one(wide), one(narrow)}),
                       "weights: two ranks hold tensor 'w' in different forms: "
                       "f32[1,4], [0,1) of 2 along dimension 0 and f32[1,2], [1,2) of 2 along dimension 0",
                       twinkle::error);
  CHECK_THROWS_AS((void)assemble(std::array{one(wide), one(tensor_of({1, 4}, {1, 2, 3, 4}, shard{0, {1, 2}, 3}))}),
                  twinkle::error);
  CHECK_THROWS_AS((void)assemble(std::array{one(wide), one(tensor_of({1, 4}, {1, 2, 3, 4}))}), twinkle::error);
  CHECK_THROWS_AS((void)assemble(std::array{one(tensor_of({2}, {1, 2})), one(tensor_of({1}, {1}))}), twinkle::error);
}

TEST_CASE("a tensor whose bytes or interval do not fit its shape is refused") {
  CHECK_THROWS_WITH_AS((void)assemble(std::array{one(tensor_of({3}, {1, 2}))}),
                       "weights: tensor 'w' of f32[3] has 8 bytes, which do not fit its shape", twinkle::error);
  CHECK_THROWS_AS((void)assemble(std::array{one(tensor_of({2}, {1, 2}, shard{1, {0, 2}, 2}))}), twinkle::error);
  CHECK_THROWS_AS((void)assemble(std::array{one(tensor_of({2}, {1, 2}, shard{0, {0, 1}, 2}))}), twinkle::error);
  CHECK_THROWS_AS((void)assemble(std::array{one(tensor_of({2}, {1, 2}, shard{0, {1, 3}, 2}))}), twinkle::error);
  CHECK_THROWS_AS((void)assemble(std::array{one(tensor_of({std::size_t{1} << 62}, {}))}), twinkle::error);
  CHECK_THROWS_AS(
      (void)assemble(std::array{one(tensor_of({0, std::size_t{1} << 62}, {}, shard{0, {0, 0}, 8}))}), twinkle::error);
}
