// SPDX-License-Identifier: Apache-2.0
#include "twinkle/place/membership.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "for_all.hpp"

using namespace std::chrono_literals;
using twinkle::time_point;
using twinkle::place::cluster;
using twinkle::place::membership;
namespace letter = twinkle::place::letter;
using events = std::vector<membership::event>;

namespace {

cluster lab() {
  cluster machines{"lab", {}};
  for (const char* name : {"a", "b", "c"})
    machines.nodes.push_back({.name = name, .host = "127.0.0.1"});
  return machines;
}

letter::hello from(const std::string& node, std::uint64_t incarnation = 1) {
  return {letter::protocol, "lab", 42, node, incarnation, "127.0.0.1", 7070};
}

template <class T>
const T* find(const events& among) {
  for (const membership::event& each : among)
    if (const auto* found = std::get_if<T>(&each))
      return found;
  return nullptr;
}

std::string refusal(const events& among) {
  for (const membership::event& each : among)
    if (const auto* said = std::get_if<membership::say>(&each))
      if (const auto* why = std::get_if<letter::refused>(&said->what))
        return why->why;
  FAIL("nobody is turned away");
  return "";
}

struct run {
  membership machine{{lab(), 42}, time_point{}};

  events join(std::uint64_t peer, const letter::hello& who, time_point now = {}) {
    CHECK(machine.up(peer, now).empty());
    return machine.hello(peer, who, now);
  }
};

}  // namespace

TEST_CASE_FIXTURE(run, "a run is complete when every node has said who it is") {
  CHECK(find<membership::joined>(join(1, from("b")))->node == 1);
  CHECK_FALSE(machine.complete());
  CHECK(find<membership::joined>(join(2, from("c")))->node == 2);
  CHECK(machine.complete());
  CHECK(machine.node_of(2) == 2);
  CHECK(machine.peer_of(1) == 1);
}

TEST_CASE_FIXTURE(run, "who does not belong is told why") {
  letter::hello old = from("b");
  old.version = 9;
  CHECK(refusal(join(1, old)) == "it speaks version 9 of the protocol, and 'a' speaks 2; start the same binary on every node");
  letter::hello other = from("b");
  other.cluster = "lap";
  CHECK(refusal(join(2, other)) ==
        "it belongs to the cluster 'lap', and 'a' to 'lab'; give every node the same cluster file");
  CHECK(refusal(join(3, from("d"))) == "the cluster has no node 'd'; it has a, b, c");
  CHECK(refusal(join(4, from("a"))) == "'a' leads, and is there already; start it once");
  letter::hello changed = from("b");
  changed.graph = 43;
  CHECK(refusal(join(5, changed)) == "its graph is not that of 'a'; start the same binary with the same options and the "
                                     "same cluster file on every node");
  join(6, from("b"));
  CHECK(refusal(join(7, from("b"))) == "'b' is there already");
  CHECK(machine.peer_of(1) == 6);
}

TEST_CASE_FIXTURE(run, "a deadline names the nodes that did not come") {
  join(1, from("b"));
  letter::hello changed = from("c");
  changed.graph = 43;
  join(2, changed);
  CHECK(find<membership::incomplete>(machine.tick(time_point{29s})) == nullptr);
  machine.heard(1, time_point{29s});
  const events late = machine.tick(time_point{30s});
  REQUIRE(find<membership::incomplete>(late) != nullptr);
  CHECK(find<membership::incomplete>(late)->why ==
        "the cluster 'lab' is not complete after 30 s:\n  - 'b' on 127.0.0.1: nobody came; start it with --node b\n"
        "  - 'c' on 127.0.0.1: it was turned away, for its graph is not that of 'a'; start the same binary with the same "
        "options and the same cluster file on every node");
  CHECK(find<membership::incomplete>(machine.tick(time_point{31s})) == nullptr);
}

TEST_CASE_FIXTURE(run, "a node that says nothing is lost, and one that says anything is not") {
  join(1, from("b"));
  join(2, from("c"));
  machine.heard(1, time_point{4s});
  const events after = machine.tick(time_point{5s});
  REQUIRE(find<membership::lost>(after) != nullptr);
  CHECK(find<membership::lost>(after)->node == 2);
  CHECK(find<membership::lost>(after)->why == "nothing came from it for 5 s");
  CHECK_FALSE(machine.complete());
  CHECK_FALSE(machine.node_of(2));
  CHECK(machine.node_of(1) == 1);
}

TEST_CASE_FIXTURE(run, "each peer is pinged each second, so that an idle connection does not fall") {
  join(1, from("b"));
  std::size_t pings = 0;
  for (time_point now{}; now < time_point{60s}; now = machine.next_deadline()) {
    machine.heard(1, now);
    for (const membership::event& each : machine.tick(now)) {
      CHECK_FALSE(std::holds_alternative<membership::lost>(each));
      const auto* said = std::get_if<membership::say>(&each);
      pings += said != nullptr && std::holds_alternative<letter::ping>(said->what) ? 1 : 0;
    }
  }
  CHECK(pings == 60);
}

TEST_CASE_FIXTURE(run, "after a tick it wants the next one later, whoever is connected") {
  join(1, from("b"));
  static_cast<void>(machine.up(2, {}));
  time_point now = machine.next_deadline();
  for (std::size_t ticks = 0; ticks < 100; ++ticks) {
    machine.heard(1, now);
    static_cast<void>(machine.tick(now));
    REQUIRE(machine.next_deadline() > now);
    now = machine.next_deadline();
  }
}

TEST_CASE_FIXTURE(run, "a process that was started again is another one, and the one before it is lost first") {
  join(1, from("b", 1));
  const events again = join(2, from("b", 2));
  REQUIRE(again.size() == 3);
  CHECK(std::get<membership::lost>(again[0]).why == "its process was started again");
  CHECK(std::get<membership::close>(again[1]).peer == 1);
  CHECK(std::get<membership::joined>(again[2]).peer == 2);
  CHECK(machine.down(1, "closed").empty());
  CHECK(machine.peer_of(1) == 2);
}

TEST_CASE_FIXTURE(run, "a process that another node cannot reach is lost, but not the one after it") {
  join(1, from("b", 1));
  CHECK(machine.unreachable(1, 9, "closed").empty());
  CHECK(machine.unreachable(7, 1, "closed").empty());
  CHECK(find<membership::lost>(machine.unreachable(1, 1, "no answer"))->why == "no answer");
  CHECK(machine.unreachable(1, 1, "no answer").empty());
}

TEST_CASE_FIXTURE(run, "one that was turned away hears why before it is closed, whatever else it says") {
  letter::hello changed = from("b");
  changed.graph = 43;
  const events told = join(1, changed);
  CHECK(told.size() == 1);
  CHECK(machine.hello(1, from("b"), time_point{1s}).empty());
  machine.heard(1, time_point{4s});
  CHECK(find<membership::close>(machine.tick(time_point{5s}))->peer == 1);
}

TEST_CASE_FIXTURE(run, "who has come is told why the run does not begin") {
  join(1, from("b"));
  machine.heard(1, time_point{29s});
  const events late = machine.tick(time_point{30s});
  REQUIRE(late.size() >= 2);
  const std::string why = find<membership::incomplete>(late)->why;
  CHECK(refusal(late) == why);
  CHECK(refusal(join(2, from("c"), time_point{31s})) == why);
}

TEST_CASE_FIXTURE(run, "of a flood of strangers the oldest are closed, and nodes are not") {
  join(0, from("b"));
  for (std::uint64_t peer = 1; peer <= 67; ++peer)
    CHECK(machine.up(peer, {}).empty());
  for (std::uint64_t peer = 68; peer < 200; ++peer)
    CHECK(find<membership::close>(machine.up(peer, {}))->peer == peer - 67);
  CHECK(machine.peer_of(1) == 0);
}

TEST_CASE_FIXTURE(run, "a stranger that says no hello is closed, whatever else it says") {
  CHECK(machine.up(9, time_point{}).empty());
  machine.heard(9, time_point{4s});
  const events late = machine.tick(time_point{5s});
  REQUIRE(find<membership::close>(late) != nullptr);
  CHECK(find<membership::close>(late)->peer == 9);
  CHECK(find<membership::lost>(late) == nullptr);
}

TEST_CASE("whatever comes in whatever order, a node is joined and lost in turns") {
  for_all([](std::vector<std::pair<std::uint8_t, std::uint8_t>> moves) {
    membership machine{{lab(), 42}, time_point{}};
    time_point now{};
    std::uint64_t peers = 0;
    std::vector<bool> here(3, false);
    const auto note = [&](const events& of) {
      for (const membership::event& each : of) {
        if (const auto* in = std::get_if<membership::joined>(&each)) {
          RC_ASSERT(!here[in->node]);
          here[in->node] = true;
        }
        if (const auto* out = std::get_if<membership::lost>(&each)) {
          RC_ASSERT(here[out->node]);
          here[out->node] = false;
        }
      }
    };
    for (const auto& [what, which] : moves) {
      const std::uint64_t peer = peers == 0 ? 0 : which % peers;
      switch (what % 5) {
        case 0: note(machine.up(peers++, now)); break;
        case 1: note(machine.hello(peer, from(which % 2 == 0 ? "b" : "c", which / 64), now)); break;
        case 2: note(machine.down(peer, "closed")); break;
        case 3: now += std::chrono::seconds(which % 4); note(machine.tick(now)); break;
        default: machine.heard(peer, now);
      }
      RC_ASSERT(machine.complete() == (here[1] && here[2]));
      for (std::size_t node = 1; node < 3; ++node)
        RC_ASSERT(machine.peer_of(node).has_value() == here[node]);
    }
  });
}
