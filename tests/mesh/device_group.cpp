// SPDX-License-Identifier: Apache-2.0
#include "twinkle/mesh/device_group.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using twinkle::canonical_device_type;
using twinkle::device_group;
using twinkle::problems;
using texts = std::vector<std::string>;

TEST_CASE("a number is a count of devices, and braces make a list of them") {
  const device_group count{.name = "rollout", .ranks = 4};
  CHECK_FALSE(count.ranks.is_list());
  CHECK(count.ranks.count() == 4);
  CHECK(count.ranks.devices().empty());

  const device_group list{.name = "rollout", .ranks = {4}};
  CHECK(list.ranks.is_list());
  CHECK(list.ranks.count() == 1);
  CHECK(list.ranks.devices() == std::vector<std::size_t>{4});
}

TEST_CASE("a good group has no problems") {
  CHECK(problems({.name = "host", .ranks = 2, .device_type = "cpu"}).empty());
  CHECK(problems({.name = "model", .ranks = {4, 5, 6, 7}, .gpus_per_worker = 2}).empty());
}

TEST_CASE("names of device types are compared without case, and gpu is cuda") {
  CHECK(canonical_device_type("GPU") == "cuda");
  CHECK(canonical_device_type("CUDA") == "cuda");
  CHECK(canonical_device_type("npu") == "npu");
}

TEST_CASE("each problem of a group is told with its values") {
  CHECK(problems({.name = "", .ranks = 1}) == texts{"a device group has no name"});
  CHECK(problems({.name = "a", .ranks = 0}) == texts{"device group 'a': 0 ranks; it must have 1 or more"});
  CHECK(problems({.name = "a", .ranks = -3}) == texts{"device group 'a': -3 ranks; it must have 1 or more"});
  CHECK(problems({.name = "a", .ranks = {1, 2, 1}}) == texts{"device group 'a': device 1 is listed twice"});
  CHECK(problems({.name = "a", .ranks = {0}, .device_type = "CPU"}) ==
        texts{"device group 'a': a cpu group takes a count, not a list of ranks"});
  CHECK(problems({.name = "a", .ranks = 4, .gpus_per_worker = 0}) ==
        texts{"device group 'a': gpus_per_worker is 0; it must be 1 or more"});
  CHECK(problems({.name = "a", .ranks = 1, .device_type = ""}) ==
        texts{"device group 'a': it has no device type; give one, such as cuda or cpu"});
  CHECK(problems({.name = "a", .ranks = 1 << 21}) ==
        texts{"device group 'a': 2097152 ranks; it may have at most 1048576"});
  CHECK(problems({.name = "a", .ranks = {1 << 21}}) ==
        texts{"device group 'a': device 2097152 is listed; the last that can be is 1048575"});
  CHECK(problems({.name = "a", .ranks = 2, .visible_devices = {"0", "0"}}) ==
        texts{"device group 'a': visible device '0' is given twice"});
  CHECK(problems({.name = "a", .ranks = 2, .colocate = {"a"}}) ==
        texts{"device group 'a': it is to be colocated with itself; name another group"});
}

TEST_CASE("case K-P1: ranks that do not make whole workers are a problem") {
  CHECK(problems({.name = "a", .ranks = 10, .gpus_per_worker = 4}) ==
        texts{"device group 'a': 10 ranks do not make whole workers of 4"});
}

TEST_CASE("all problems of a group are told at once") {
  CHECK(problems({.name = "", .ranks = 0, .gpus_per_worker = 0}).size() == 3);
}
