// SPDX-License-Identifier: Apache-2.0
#include "data/column_store.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "data/rows.hpp"
#include "twinkle/data/batch.hpp"

using rows::line;
using rows::numbered;
using rows::score;
using rows::tokens;
using twinkle::batch;
using twinkle::buffer;
using twinkle::interval;
using twinkle::data::chunk;
using twinkle::data::column_store;

TEST_CASE("chunks are joined once for all readers, on whichever threads they are") {
  const batch joined = batch::concat(std::array{numbered(3), numbered(4, 3), numbered(5, 7)});
  constexpr std::size_t readers = 8;
  std::array<const float*, readers> scores{};
  std::array<const char*, readers> letters{};
  std::atomic<std::size_t> ready = 0;
  std::vector<std::thread> threads;
  for (std::size_t reader = 0; reader < readers; ++reader)
    threads.emplace_back([&, reader] {
      ready.fetch_add(1);
      while (ready.load() < readers)
        std::this_thread::yield();
      const batch mine = joined;
      scores[reader] = mine[score].values().data();
      letters[reader] = mine[line][0].data();
    });
  for (std::thread& each : threads)
    each.join();
  for (std::size_t reader = 0; reader < readers; ++reader) {
    CHECK(scores[reader] == scores[0]);
    CHECK(letters[reader] == letters[0]);
  }
  CHECK(joined[score][11] == 11.0F);
  CHECK(joined[tokens][4].size() == 1);
  CHECK(joined[{5, 9}][score].values().data() == scores[0] + 5);
}

TEST_CASE("rows of one chunk are read where they are, though others stand beside it") {
  const batch first = numbered(3);
  const batch joined = batch::concat(std::array{first, numbered(4, 3)});
  CHECK(joined[{1, 3}][score].values().data() == first[score].values().data() + 1);
}

TEST_CASE("pieces that follow each other in one buffer are one piece again") {
  const buffer numbers = buffer::of(std::vector<std::int64_t>{0, 1, 2, 3, 4});
  const column_store store("n", type_of(twinkle::column<std::int64_t>{"n"}), {{numbers, {}, 0, 5}});
  std::vector<chunk> pieces;
  store.append({0, 2}, pieces);
  store.append({2, 5}, pieces);
  REQUIRE(pieces.size() == 1);
  CHECK(pieces[0].rows == 5);
  store.append({1, 2}, pieces);
  CHECK(pieces.size() == 2);
  store.append({3, 3}, pieces);
  CHECK(pieces.size() == 2);
}

TEST_CASE("ragged pieces of one buffer with offsets of their own stay two pieces") {
  const buffer numbers = buffer::of(std::vector<std::int64_t>{0, 1, 2});
  const auto type = type_of(twinkle::ragged<std::int64_t>{"n"});
  const auto offsets = [](std::vector<std::uint64_t> at) { return buffer::of(std::move(at)); };
  const column_store first("n", type, {{numbers, offsets({0, 1, 2}), 0, 2}});
  const column_store second("n", type, {{numbers, offsets({0, 2, 3}), 0, 2}});
  std::vector<chunk> pieces;
  first.append({0, 1}, pieces);
  second.append({1, 2}, pieces);
  CHECK(pieces.size() == 2);
}

TEST_CASE("empty chunks among others are passed over") {
  const buffer numbers = buffer::of(std::vector<std::int64_t>{0, 1, 2});
  const auto store = std::make_shared<const column_store>(
      "n", type_of(twinkle::column<std::int64_t>{"n"}),
      std::vector<chunk>{{numbers, {}, 0, 0}, {numbers, {}, 0, 2}, {numbers, {}, 2, 0}, {numbers, {}, 2, 1}});
  CHECK(store->rows() == 3);
  const auto read = [&](interval rows) {
    const twinkle::dense_view<std::int64_t> view{column_store::contiguous(store, rows)};
    return std::vector<std::int64_t>(view.begin(), view.end());
  };
  CHECK(read({0, 3}) == std::vector<std::int64_t>{0, 1, 2});
  CHECK(read({1, 2}) == std::vector<std::int64_t>{1});
  CHECK(read({2, 3}) == std::vector<std::int64_t>{2});
  CHECK(read({3, 3}).empty());
}
