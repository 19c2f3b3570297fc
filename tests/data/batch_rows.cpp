// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "data/rows.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/data/batch.hpp"

using rows::content_of;
using rows::line;
using rows::numbered;
using rows::score;
using twinkle::batch;
using twinkle::row_tag;
using twinkle::tombstone;
using indices = std::vector<std::size_t>;
using texts = std::vector<std::string>;

namespace {

texts ids_of(const batch& rows) {
  texts ids;
  for (const row_tag& tag : rows.tags())
    ids.push_back(to_string(tag.id));
  return ids;
}

texts lost_in(const batch& rows) {
  texts lost;
  for (const tombstone& each : rows.tombstones())
    lost.push_back(to_string(each.tag.id) + " " + each.reason);
  return lost;
}

}  // namespace

TEST_CASE("batches stand behind each other whatever the order of their columns") {
  const batch first = numbered(2);
  const batch other = numbered(2, 2).select(std::array<std::string_view, 4>{"line", "tokens", "point", "score"});
  CHECK(content_of(batch::concat(std::array{first, other})) == content_of(first) + content_of(numbered(2, 2)));
}

TEST_CASE("batches of other columns are not put together, and both are named") {
  const batch scores = batch{}.with(score, {1, 2});
  CHECK_THROWS_WITH_AS((void)batch::concat(std::array{scores, batch{}.with(line, {"a"})}),
                       "cannot put batches together: part 1 has line (text), the first has score (f32)",
                       twinkle::error);
  CHECK_THROWS_AS((void)batch::concat(std::array{scores, batch{}.with(twinkle::column<double>{"score"}, {1})}),
                  twinkle::error);
  CHECK_THROWS_AS((void)batch::concat(std::array{scores, scores.with(line, {"a", "b"})}), twinkle::error);
  CHECK_THROWS_AS((void)batch::concat(std::array{scores, scores.with_tags(rows::tags_from(0, 2))}), twinkle::error);
}

TEST_CASE("parts without rows count for their tombstones only") {
  const batch lost = numbered(1).drop(indices{0}, "bad");
  const batch alone = batch{}.with_tombstone({rows::tags_from(7, 1)[0], "late"});
  const batch joined = batch::concat(std::array{alone, numbered(2, 1), batch{}, lost});
  CHECK(ids_of(joined) == texts{"0:1", "0:2"});
  CHECK(lost_in(joined) == texts{"0:7 late", "0:0 bad"});
  CHECK(batch::concat(std::array{numbered(0), numbered(0)}).names().size() == 4);
  CHECK(batch::concat({}).empty());
}

TEST_CASE("rows are taken in any order, and as often as asked") {
  const batch taken = numbered(4)[{1, 4}].take(indices{2, 0, 0});
  CHECK(ids_of(taken) == texts{"0:3", "0:1", "0:1"});
  CHECK(taken[line][0] == "row 3");
  CHECK(taken[score][2] == 1.0F);
  CHECK_THROWS_WITH_AS((void)numbered(4).take(indices{0, 4}), "row 4 does not lie in a batch of 4 rows",
                       twinkle::error);
}

TEST_CASE("children number themselves under their parents and know how many they are") {
  const batch samples = numbered(2, 5).expand(indices{0, 0, 0, 1});
  CHECK(ids_of(samples) == texts{"0:5/0", "0:5/1", "0:5/2", "0:6/0"});
  CHECK(samples.tags()[1].id.path[0].count == 3);
  CHECK(samples.tags()[3].id.path[0].count == 1);
  CHECK(samples[line][2] == "row 5");
}

TEST_CASE("children may come in any order, and keep what rides with their parents") {
  std::vector<row_tag> tags = rows::tags_from(0, 2);
  tags[1].padding = true;
  tags[1].version = 4;
  const batch samples = numbered(2).with_tags(tags).expand(indices{1, 0, 1});
  CHECK(ids_of(samples) == texts{"0:1/0", "0:0/0", "0:1/1"});
  CHECK(samples.tags()[2].padding);
  CHECK(samples.tags()[2].version == 4);
  CHECK_FALSE(samples.tags()[1].padding);
}

TEST_CASE("a parent without children is closed by a tombstone in its place") {
  const batch samples = numbered(4).drop(indices{1}, "bad").expand(indices{0, 2});
  CHECK(ids_of(samples) == texts{"0:0/0", "0:3/0"});
  CHECK(lost_in(samples) == texts{"0:1 bad", "0:2 no children"});
  CHECK(lost_in(samples[{0, 1}]) == texts{"0:1 bad", "0:2 no children"});
}

TEST_CASE("rows without identities cannot be expanded or dropped, nor can rows that are not there") {
  const batch unnamed = rows::chunk_of({{}});
  CHECK_THROWS_AS((void)unnamed.expand(indices{0}), twinkle::error);
  CHECK_THROWS_AS((void)unnamed.drop(indices{0}, "bad"), twinkle::error);
  CHECK_THROWS_WITH_AS((void)numbered(2).expand(indices{0, 2}), "row 2 does not lie in a batch of 2 rows",
                       twinkle::error);
}

TEST_CASE("a dropped row leaves its identity and the reason in its place") {
  const batch left = numbered(5).drop(indices{1, 3}, "too long");
  CHECK(ids_of(left) == texts{"0:0", "0:2", "0:4"});
  CHECK(left[line][1] == "row 2");
  CHECK(lost_in(left) == texts{"0:1 too long", "0:3 too long"});
}

TEST_CASE("rows that are dropped one after the other stand in the order of the rows") {
  const batch left = numbered(4).drop(indices{2}, "second").drop(indices{1}, "first");
  CHECK(lost_in(left) == texts{"0:1 first", "0:2 second"});
  const batch other = numbered(4).drop(indices{1}, "first").drop(indices{1}, "second");
  CHECK(lost_in(other) == texts{"0:1 first", "0:2 second"});
}

TEST_CASE("rows to drop that are unordered or not there are refused") {
  CHECK_THROWS_WITH_AS(
      (void)numbered(3).drop(indices{0, 3}, "bad"),
      "cannot drop row 3 of 3; rows to drop must be ascending and in the batch", twinkle::error);
  CHECK_THROWS_AS((void)numbered(3).drop(indices{2, 1}, "bad"), twinkle::error);
  CHECK_THROWS_AS((void)numbered(3).drop(indices{1, 1}, "bad"), twinkle::error);
}
