// SPDX-License-Identifier: Apache-2.0
#include "twinkle/place/addresses.hpp"

#include <doctest/doctest.h>

using twinkle::place::address_problems;
using twinkle::place::cluster;
using twinkle::place::is_loopback;
using texts = std::vector<std::string>;

TEST_CASE("only numbers and localhost are known to be loopback: a name may be anybody's") {
  for (const char* host : {"localhost", "127.0.0.1", "127.255.1.9", "::1"})
    CHECK(is_loopback(host));
  for (const char* host : {"127.evil.example", "10.0.0.1", "localhost.example", "", "?", "::2", "1270.0.0.1"})
    CHECK_FALSE(is_loopback(host));
}

TEST_CASE("nodes of one machine, and of several, find each other") {
  CHECK(address_problems({"lab", {}}) == texts{});
  CHECK(address_problems({"lab", {{.name = "a", .port = 7000}, {.name = "b"}, {.name = "c", .port = 7002}}}) == texts{});
  CHECK(address_problems({"lab", {{.name = "a", .host = "10.0.0.1", .port = 65534}, {.name = "b", .host = "n2"}}}) == texts{});
  CHECK(address_problems({"env", {{.name = "node0", .port = 7000}, {.name = "node1", .host = "?"}}}) == texts{});
}

TEST_CASE("the leader needs two ports") {
  CHECK(address_problems({"lab", {{.name = "a"}, {.name = "b", .port = 1}}}) ==
        texts{"node 'a' leads and has no port; give it one, and leave the one after it free as well"});
  CHECK(address_problems({"lab", {{.name = "a", .port = 65535}}}) ==
        texts{"node 'a' leads on port 65535, behind which there is none; give it a smaller one"});
  CHECK(address_problems({"lab", {{.name = "a", .port = 7000}, {.name = "b", .port = 7001}}}) ==
        texts{"node 'b' has port 7001, on which 'a' listens as well, since it leads on the port before; give it another"});
  CHECK(address_problems({"lab", {{.name = "a", .host = "n1", .port = 7000}, {.name = "b", .host = "n2", .port = 7001}}}) ==
        texts{});
}

TEST_CASE("a host that was forgotten is told of where the others have one") {
  CHECK(address_problems({"lab", {{.name = "a", .host = "10.0.0.1", .port = 7000}, {.name = "judges", .port = 7002}}}) ==
        texts{"node 'judges' is on localhost, which is whichever machine reads it, and 'a' on 10.0.0.1; give it a host that "
              "all nodes can reach"});
  CHECK(address_problems({"lab", {{.name = "a", .host = "127.0.0.1"}, {.name = "b", .host = "n2"}}}).size() == 2);
  CHECK(address_problems({"env", {{.name = "node0", .host = "n1", .port = 7000}, {.name = "node1", .host = "?"}}}) == texts{});
}
