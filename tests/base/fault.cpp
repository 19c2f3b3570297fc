// SPDX-License-Identifier: Apache-2.0
#include "twinkle/base/fault.hpp"

#include <doctest/doctest.h>

using twinkle::fault;
using twinkle::interval;

TEST_CASE("a fault says where, in which endpoint, with which rows, and why") {
  const fault full{"grpo/sampler[dp=1]@local:gpu3", "sample", interval{8, 16}, "out of memory"};
  CHECK(to_string(full) == "grpo/sampler[dp=1]@local:gpu3 in sample, rows [8,16): out of memory");
}

TEST_CASE("a fault without endpoint and rows leaves them out") {
  const fault bare{.place = "grpo/model[0]", .endpoint = "", .cause = "lost its node"};
  CHECK(to_string(bare) == "grpo/model[0]: lost its node");
}
