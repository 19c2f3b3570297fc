// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <numeric>
#include <set>

#include "hall_bodies.hpp"
#include "hall_post.hpp"
#include "twinkle/base/error.hpp"

namespace tk = twinkle;
using hall_test::bodies;
using hall_test::bytes;
using hall_test::post;
using tk::hall_letter;
using tk::runtime::interruption;
using tk::runtime::meeting_hall;

namespace {

constexpr std::size_t workers = 6;
using table = std::vector<std::vector<float>>;  // by worker

// Workers on nodes, and those of them that meet.
struct scene {
  std::size_t nodes;
  std::vector<std::size_t> node_of;
  std::vector<std::size_t> members;
  std::size_t count;  // of values
  table values;
};

scene drawn(tk::generator& random) {
  scene found{1 + random.below(3), {}, {}, random.below(4) == 0 ? random.below(workers) : random.below(300), {}};
  for (std::size_t worker = 0; worker < workers; ++worker) {
    found.node_of.push_back(random.below(found.nodes));
    if (random.below(4) > 0)
      found.members.push_back(worker);
    found.values.emplace_back(found.count);
    for (float& each : found.values.back())
      each = static_cast<float>((random.uniform() - 0.5) * (random.below(2) == 0 ? 1e8 : 1));
  }
  if (found.members.empty())
    found.members = {0, workers - 1};
  return found;
}

std::size_t nodes_of(const scene& at) {
  std::set<std::size_t> nodes;
  for (const std::size_t member : at.members)
    nodes.insert(at.node_of[member]);
  return nodes.size();
}

using collective = std::function<void(meeting_hall&, const meeting_hall::key&, std::size_t index, interruption&,
                                      std::vector<float>&)>;

// What the members have afterwards, over halls that `hall_of` gives.
table met(const scene& at, bodies& team, tk::route::call_id call, const collective& what,
          const std::function<meeting_hall&(std::size_t)>& hall_of) {
  table values = at.values;
  const meeting_hall::key where{call, at.members, 0};
  for (std::size_t index = 0; index < at.members.size(); ++index)
    team.start(at.members[index], [&, index](std::size_t worker, interruption& self) {
      what(hall_of(worker), where, index, self, values[worker]);
    });
  for (const std::size_t member : at.members)
    CHECK(team.end_of(member).empty());
  return values;
}

// The bytes that must cross nodes: a value where who adds it is elsewhere, and each sum once to each other node.
std::size_t bytes_of_all_reduce(const scene& at) {
  std::size_t least = 0;
  for (std::size_t owner = 0; owner < at.members.size(); ++owner) {
    const std::size_t part = tk::even_part(at.count, at.members.size(), owner).size() * sizeof(float);
    for (const std::size_t member : at.members)
      least += at.node_of[member] == at.node_of[at.members[owner]] ? 0 : part;
    least += part * (nodes_of(at) - 1);
  }
  return least;
}

void check_everywhere(const collective& what, const std::function<std::size_t(const scene&)>& least) {
  bodies team(workers);
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    tk::generator random(seed);
    const scene at = drawn(random);
    meeting_hall alone;
    const table expected = met(at, team, 1, what, [&](std::size_t) -> meeting_hall& { return alone; });
    post between(at.node_of, at.nodes, seed);
    between.start();
    const table seen = met(at, team, 1, what, [&](std::size_t of) -> meeting_hall& { return between.hall_of(of); });
    between.stop();
    for (const std::size_t member : at.members)
      CHECK((at.count == 0 || std::memcmp(seen[member].data(), expected[member].data(), at.count * sizeof(float)) == 0));
    CHECK(between.bytes_sent() == least(at));
    CHECK(alone.meetings() == 0);
    for (std::size_t node = 0; node < at.nodes; ++node)
      CHECK(between.hall(node).meetings() == 0);
  }
}

void sum_up(meeting_hall& hall, const meeting_hall::key& where, std::size_t index, interruption& self,
            std::vector<float>& values) {
  hall.all_reduce(where, index, self, tk::element::f32, tk::reduction::sum, bytes(values));
}

hall_letter letter(tk::route::call_id call, std::size_t from, std::size_t values) {
  return {{call, {0, 1}, 0}, hall_letter::kind::values, from, {0, values},
          tk::buffer::of(std::vector<std::byte>(values)), "all-reduce of 2 f32"};
}

}  // namespace

TEST_CASE("workers on several nodes add up to the same bits as on one, and send no byte too many") {
  check_everywhere(sum_up, bytes_of_all_reduce);
}

TEST_CASE("a broadcast crosses to each other node once") {
  check_everywhere(
      [](meeting_hall& hall, const meeting_hall::key& where, std::size_t index, interruption& self,
         std::vector<float>& values) { hall.broadcast(where, index, self, bytes(values), where.members.size() / 2); },
      [](const scene& at) { return at.count * sizeof(float) * (nodes_of(at) - 1); });
}

TEST_CASE("each worker gets its own part of the sum, and its values go to who adds them only") {
  check_everywhere(
      [](meeting_hall& hall, const meeting_hall::key& where, std::size_t index, interruption& self,
         std::vector<float>& values) {
        std::vector<float> whole = values;
        hall.reduce_scatter(where, index, self, tk::element::f32, tk::reduction::sum, bytes(values));
        meeting_hall::key next = where;
        ++next.ordinal;
        sum_up(hall, next, index, self, whole);
        const tk::interval own = tk::even_part(values.size(), where.members.size(), index);
        CHECK(std::equal(values.begin() + static_cast<std::ptrdiff_t>(own.first),
                         values.begin() + static_cast<std::ptrdiff_t>(own.end),
                         whole.begin() + static_cast<std::ptrdiff_t>(own.first)));
      },
      [](const scene& at) {
        return 2 * bytes_of_all_reduce(at) - at.count * sizeof(float) * (nodes_of(at) - 1);
      });
}

TEST_CASE("what all gather crosses to each other node once, and is the same everywhere") {
  check_everywhere(
      [](meeting_hall& hall, const meeting_hall::key& where, std::size_t index, interruption& self,
         std::vector<float>& values) {
        const std::size_t size = where.members.size();
        std::vector<float> expected(values.size());
        for (std::size_t member = 0; member < size; ++member) {
          const tk::interval part = tk::even_part(values.size(), size, member);
          for (std::size_t at = part.first; at < part.end; ++at) {
            expected[at] = static_cast<float>(member * 1000 + at);
            values[at] = member == index ? expected[at] : -1;
          }
        }
        hall.all_gather(where, index, self, tk::element::f32, bytes(values));
        CHECK(values == expected);
      },
      [](const scene& at) { return at.count * sizeof(float) * (nodes_of(at) - 1); });
}

TEST_CASE("messages between two workers arrive in the order in which they were sent, while others meet") {
  bodies team(3);
  post between({0, 1, 0}, 2, 5);
  between.start();
  const auto said = team.run([&](std::size_t worker, interruption& self) {
    meeting_hall& hall = between.hall_of(worker);
    const std::size_t next = (worker + 1) % 3;
    const std::size_t before = (worker + 2) % 3;
    for (std::size_t time = 0; time < 20; ++time) {
      std::vector<float> sent(time, static_cast<float>(100 * worker + time));
      hall.send({1, {worker, next}, time, true}, self, bytes(sent));
    }
    std::vector<float> sum(4, 1);
    sum_up(hall, {1, {0, 1, 2}, 0}, worker, self, sum);
    CHECK(sum == std::vector<float>(4, 3));
    for (std::size_t time = 0; time < 20; ++time) {
      std::vector<float> got(time);
      hall.receive({1, {before, worker}, time, true}, self, bytes(got));
      CHECK(got == std::vector<float>(time, static_cast<float>(100 * before + time)));
    }
  });
  between.stop();
  CHECK(said == std::vector<std::string>(3));
  CHECK(between.hall(0).meetings() == 0);
  CHECK(between.hall(1).meetings() == 0);
}

TEST_CASE("a message of another length than is awaited is an error where it is received") {
  bodies team(2);
  meeting_hall hall;
  const auto said = team.run([&](std::size_t worker, interruption& self) {
    std::vector<float> values(worker == 0 ? 2 : 3);
    if (worker == 0)
      hall.send({1, {0, 1}, 0, true}, self, bytes(values));
    else
      hall.receive({1, {0, 1}, 0, true}, self, bytes(values));
  });
  CHECK(said[0].empty());
  CHECK(said[1] ==
        "the workers of a collective disagree: one wants a message of 12 bytes, another a message of 8 bytes");
  CHECK(hall.meetings() == 0);
}

TEST_CASE("a message that nobody receives is dropped when its receiver goes on to a later call") {
  bodies team(1);
  post between({0, 1}, 2, 1);
  team.start(0, [&](std::size_t, interruption& self) {
    std::vector<float> values(2);
    between.hall(0).send({1, {0, 1}, 0, true}, self, bytes(values));
  });
  CHECK(team.end_of(0).empty());
  CHECK(between.hall(0).meetings() == 0);
  between.bring(1);
  CHECK(between.hall(1).meetings() == 1);
  between.hall(1).begins(1, 2);
  CHECK(between.hall(1).meetings() == 0);
}

TEST_CASE("letters that come before any worker here are kept for it") {
  bodies team(2);
  post between({0, 1}, 2, 1);
  table values{{1, 2, 3}, {10, 20, 30}};
  const meeting_hall::key where{4, {0, 1}, 0};
  const auto meet = [&](std::size_t worker, interruption& self) {
    sum_up(between.hall_of(worker), where, worker, self, values[worker]);
  };
  team.start(1, meet);
  between.bring(1);
  CHECK(between.hall(0).meetings() == 1);
  team.start(0, meet);
  between.bring(3);
  CHECK(team.end_of(0).empty());
  CHECK(team.end_of(1).empty());
  CHECK(values == table{{11, 22, 33}, {11, 22, 33}});
}

TEST_CASE("workers on several nodes that want different collectives all hear what two of them want") {
  bodies team(3);
  post between({0, 1, 1}, 2, 7);
  between.start();
  const auto said = team.run([&](std::size_t worker, interruption& self) {
    std::vector<float> values(worker == 0 ? 16 : 12);
    sum_up(between.hall_of(worker), {1, {0, 1, 2}, 0}, worker, self, values);
  });
  between.stop();
  const std::string disagree = "the workers of a collective disagree: one wants all-reduce of ";
  CHECK(said[0] == disagree + "16 f32, another all-reduce of 12 f32");
  CHECK(said[1] == disagree + "12 f32, another all-reduce of 16 f32");
  CHECK(said[2] == said[1]);
}

TEST_CASE("a cancelled call frees workers on every node and leaves no meeting behind, and the next one works") {
  bodies team(4);
  post between({0, 0, 1, 1}, 2, 3);
  table values(4, std::vector<float>(5, 1));
  const auto meet = [&](tk::route::call_id call) {
    return [&, call](std::size_t worker, interruption& self) {
      between.hall_of(worker).begins(worker, call);
      sum_up(between.hall_of(worker), {call, {0, 1, 2, 3}, 0}, worker, self, values[worker]);
    };
  };
  team.enter(1);
  for (const std::size_t worker : {0, 1, 2})  // the last one never comes
    team.start(worker, meet(1));
  between.bring(2);
  for (std::size_t worker = 0; worker < 4; ++worker)
    team.cancel(worker, 1, "the last one failed");
  for (const std::size_t worker : {0, 1, 2})
    CHECK(team.end_of(worker).find("the last one failed") != std::string::npos);
  CHECK(between.hall(0).meetings() == 0);
  between.bring(1);  // what was still under way is dropped
  CHECK(between.hall(0).meetings() == 0);

  team.enter(2);
  between.start();
  CHECK(team.run(meet(2)) == std::vector<std::string>(4));
  between.stop();
  CHECK(values == table(4, std::vector<float>(5, 4)));
  CHECK(between.hall(0).meetings() == 0);
  CHECK(between.hall(1).meetings() == 0);
}

TEST_CASE("letters to a call are dropped when all who are here have gone on, and not before") {
  post between({0, 0, 1}, 2, 1);
  meeting_hall& hall = between.hall(0);
  const auto late = [](tk::route::call_id call) {
    return hall_letter{{call, {0, 1, 2}, 0}, hall_letter::kind::values, 2, {}, {}, "all-reduce of 0 u8"};
  };
  hall.arrived(late(5));
  hall.arrived(late(7));
  hall.begins(0, 9);
  CHECK(hall.meetings() == 2);
  hall.begins(1, 7);
  CHECK(hall.meetings() == 1);
  hall.arrived(late(6));
  CHECK(hall.meetings() == 1);
  hall.begins(1, 8);
  CHECK(hall.meetings() == 0);
}

TEST_CASE("a letter that cannot be from there is refused") {
  post between({0, 1, 1}, 2, 1);
  meeting_hall& hall = between.hall(0);
  CHECK_THROWS_WITH_AS(hall.arrived(letter(3, 0, 4)),
                       "another node sends the values of member 0 for meeting 0 of workers 0,1 in call 3, but that "
                       "worker is here",
                       tk::error);
  CHECK_THROWS_AS(hall.arrived(letter(3, 2, 4)), tk::error);
  auto short_of_values = letter(3, 1, 4);
  short_of_values.part.end = 8;
  CHECK_THROWS_AS(hall.arrived(std::move(short_of_values)), tk::error);
  auto to_others = letter(3, 1, 4);
  to_others.meeting.members = {1, 2};
  CHECK_THROWS_AS(hall.arrived(std::move(to_others)), tk::error);
  CHECK(hall.meetings() == 0);
  hall.arrived(letter(3, 1, 4));
  CHECK_THROWS_AS(hall.arrived(letter(3, 1, 4)), tk::error);
}

TEST_CASE("a worker that is sent the wrong bytes says whose they are") {
  bodies team(1);
  post between({0, 1}, 2, 1);
  std::vector<float> values(2);
  auto wrong = letter(1, 1, 4);
  wrong.part = {2, 6};
  between.hall(0).arrived(std::move(wrong));
  const auto said = team.run([&](std::size_t, interruption& self) {
    sum_up(between.hall(0), {1, {0, 1}, 0}, 0, self, values);
  });
  CHECK(said[0] == "all-reduce of 2 f32: worker 1 laid down no bytes [0,4) of its values");
}
