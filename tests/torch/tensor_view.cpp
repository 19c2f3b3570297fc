// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "torch/tensor_round_trip.hpp"
#include "twinkle/base/error.hpp"

using twinkle::batch;
using twinkle::torch_policy::round_trip;

namespace {

constexpr twinkle::column<float> point{"point", {2}};
constexpr twinkle::column<std::int64_t> number{"number"};
constexpr twinkle::text line{"line"};

batch some_rows() {
  return batch{}.with(point, {1, 2, 3, 4, 5, 6}).with(number, {7, 8, 9}).with(line, {"a", "b", "c"});
}

}  // namespace

TEST_CASE("a tensor of a column lies in the batch's memory, and a buffer of a tensor in the tensor's") {
  const batch rows = some_rows();
  const auto whole = round_trip(rows, "point");
  CHECK(whole.shape == std::vector<std::int64_t>{3, 2});
  CHECK(whole.sum == 21);
  CHECK(whole.values.as<float>() == rows[point].values().data());
  CHECK(whole.values.bytes() == 6 * sizeof(float));
  const auto slice = round_trip(rows[{1, 3}], "number");
  CHECK(slice.shape == std::vector<std::int64_t>{2});
  CHECK(slice.sum == 17);
  CHECK(slice.values.as<std::int64_t>() == rows[number].values().data() + 1);
  CHECK(round_trip(rows[{1, 1}], "point").shape == std::vector<std::int64_t>{0, 2});
}

TEST_CASE("what is borrowed outlives the batch and the tensor") {
  const auto values = round_trip(some_rows(), "number").values;
  CHECK(values.as<std::int64_t>()[2] == 9);
}

TEST_CASE("what cannot be borrowed is refused") {
  const batch rows = some_rows();
  CHECK_THROWS_WITH_AS((void)round_trip(rows, "line"), "column 'line' is text; only a dense column is a tensor",
                       twinkle::error);
  CHECK_THROWS_WITH_AS((void)round_trip(rows, "point", true),
                       "a tensor that is not contiguous in main memory cannot be borrowed; call contiguous() or cpu() "
                       "first",
                       twinkle::error);
}
