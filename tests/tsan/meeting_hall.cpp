// SPDX-License-Identifier: Apache-2.0
#include "runtime/meeting_hall.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "hall_bodies.hpp"

namespace tk = twinkle;
using hall_test::bytes;
using tk::runtime::meeting_hall;

namespace {

// Workers that meet in one hall.
struct team : hall_test::bodies {
  explicit team(std::size_t workers) : bodies(workers), members(workers) {
    std::iota(members.begin(), members.end(), std::size_t{0});
  }

  [[nodiscard]] meeting_hall::key at(std::size_t ordinal) const { return {1, members, ordinal}; }

  meeting_hall hall;
  std::vector<std::size_t> members;
};

}  // namespace

TEST_CASE("an all-reduce adds in rank order, to the same bits on every worker") {
  constexpr std::size_t workers = 5;
  constexpr std::size_t count = 1000;
  const auto value = [](std::size_t rank, std::size_t at) {
    return (rank % 2 == 0 ? 1e7F : -1e7F) + static_cast<float>(rank * at) * 0.1F;
  };
  std::vector<float> expected(count);
  for (std::size_t at = 0; at < count; ++at)
    for (std::size_t rank = 0; rank < workers; ++rank)
      expected[at] = rank == 0 ? value(0, at) : expected[at] + value(rank, at);
  team five(workers);
  std::vector<std::vector<float>> results(workers, std::vector<float>(count));
  for (std::size_t time = 0; time < 50; ++time) {
    const auto said = five.run([&](std::size_t index, tk::runtime::interruption& self) {
      for (std::size_t at = 0; at < count; ++at)
        results[index][at] = value(index, at);
      five.hall.all_reduce(five.at(time), index, self, tk::element::f32, tk::reduction::sum, bytes(results[index]));
    });
    CHECK(said == std::vector<std::string>(workers));
    for (const std::vector<float>& each : results)
      CHECK(each == expected);
  }
}

TEST_CASE("the maximum, a broadcast and a barrier reach every worker, also with fewer values than workers") {
  team three(3);
  std::vector<std::vector<std::int64_t>> most{{3}, {9}, {-4}};
  std::vector<std::vector<double>> sent{{1, 2}, {3, 4}, {5, 6}};
  const auto said = three.run([&](std::size_t index, tk::runtime::interruption& self) {
    three.hall.all_reduce(three.at(0), index, self, tk::element::i64, tk::reduction::max, bytes(most[index]));
    three.hall.broadcast(three.at(1), index, self, bytes(sent[index]), 1);
    three.hall.all_reduce(three.at(2), index, self, tk::element::u8, tk::reduction::sum, {});
  });
  CHECK(said == std::vector<std::string>(3));
  for (std::size_t index = 0; index < 3; ++index) {
    CHECK(most[index].front() == 9);
    CHECK(sent[index] == std::vector<double>{3, 4});
  }
}

TEST_CASE("workers that want different collectives all hear of it") {
  team two(2);
  std::vector<std::vector<float>> values{std::vector<float>(12), std::vector<float>(16)};
  const auto said = two.run([&](std::size_t index, tk::runtime::interruption& self) {
    two.hall.all_reduce(two.at(0), index, self, tk::element::f32, tk::reduction::sum, bytes(values[index]));
  });
  const std::string disagree = "the workers of a collective disagree: one wants all-reduce of ";
  CHECK(said[0] == disagree + "12 f32, another all-reduce of 16 f32");
  CHECK(said[1] == disagree + "16 f32, another all-reduce of 12 f32");
  CHECK(two.hall.meetings() == 0);
}

TEST_CASE("a worker that waits for a peer which never comes is freed by a cancel") {
  team two(2);
  std::vector<float> values(3);
  const auto said = two.run([&](std::size_t index, tk::runtime::interruption& self) {
    if (index == 1)
      two.cancel(0, std::nullopt, "its peer is gone");
    else
      two.hall.all_reduce(two.at(0), 0, self, tk::element::f32, tk::reduction::sum, bytes(values));
  });
  CHECK(said[0].find("its peer is gone") != std::string::npos);
  CHECK(said[1].empty());
  CHECK(two.hall.meetings() == 1);  // the other may come yet
  two.hall.begins(1, 2);
  CHECK(two.hall.meetings() == 0);
}
