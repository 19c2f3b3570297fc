// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/batch.hpp"

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/rows.hpp"
#include "twinkle/base/error.hpp"

using rows::content_of;
using rows::line;
using rows::numbered;
using rows::point;
using rows::score;
using rows::tokens;
using twinkle::batch;
using twinkle::buffer;
using twinkle::column;
using twinkle::ragged;
using twinkle::text;
using twinkle::type_of;
using names = std::vector<std::string>;

TEST_CASE("a batch gives back the columns that were put in") {
  const batch made = batch{}
                         .with(score, {0.5F, 1.5F})
                         .with(point, {1, 2, 3, 4})
                         .with(tokens, {{7, 8, 9}, {}})
                         .with(line, {"one", ""});
  REQUIRE(made.rows() == 2);
  CHECK(made.names() == names{"score", "point", "tokens", "line"});
  CHECK(made[score][1] == 1.5F);
  CHECK(made[point].row(1)[0] == 3);
  CHECK(made[tokens][0].size() == 3);
  CHECK(made[tokens][0][2] == 9);
  CHECK(made[tokens][1].empty());
  CHECK(made[tokens].elements() == 3);
  CHECK(made[line][0] == "one");
  CHECK(made[line][1].empty());
  CHECK(to_string(made.type("point")) == "i64[2]");
}

TEST_CASE("a batch of nothing has no rows and no columns") {
  const batch nothing;
  CHECK(nothing.empty());
  CHECK(nothing.names().empty());
  CHECK_FALSE(nothing.identified());
  CHECK(nothing.tombstones().empty());
}

TEST_CASE("columns of no rows can be read") {
  const batch made = batch{}.with(score, {}).with(tokens, {}).with(line, {});
  CHECK(made.rows() == 0);
  CHECK(made[score].values().empty());
  CHECK(made[tokens].elements() == 0);
  CHECK(made[line].rows() == 0);
}

TEST_CASE("a missing column is an error that names it and those there are") {
  const batch made = numbered(2);
  CHECK_THROWS_WITH_AS((void)made[text{"prompt"}],
                       "no column 'prompt' in this batch; its columns are score, point, tokens, line", twinkle::error);
  CHECK_THROWS_WITH_AS((void)batch{}[text{"prompt"}], "no column 'prompt' in this batch; it has no columns",
                       twinkle::error);
  CHECK_THROWS_AS((void)made.type("prompt"), twinkle::error);
}

TEST_CASE("a column read as another type is an error that names both") {
  const batch made = numbered(2);
  CHECK_THROWS_WITH_AS((void)made[column<double>{"score"}], "column 'score' is f32, but is read as f64",
                       twinkle::error);
  CHECK_THROWS_WITH_AS((void)made[column<std::int64_t>{"point"}], "column 'point' is i64[2], but is read as i64",
                       twinkle::error);
  CHECK_THROWS_WITH_AS((void)made[text{"tokens"}], "column 'tokens' is ragged i32, but is read as text",
                       twinkle::error);
}

TEST_CASE("a column of another number of rows is refused with both numbers") {
  const batch made = numbered(3);
  CHECK_THROWS_WITH_AS((void)made.with(score, {1.0F, 2.0F}),
                       "column 'score' (f32) has 8 bytes, but there are 3 rows of 4", twinkle::error);
  CHECK_THROWS_WITH_AS((void)made.with(line, {"a"}),
                       "column 'line': 2 offsets for 3 rows; there must be one more than rows", twinkle::error);
  CHECK_THROWS_AS((void)batch{}.with(point, {1, 2, 3}), twinkle::error);
  CHECK_THROWS_AS((void)numbered(0).with(score, {1.0F}), twinkle::error);
}

TEST_CASE("a column that is put in again replaces the old one, and the old batch keeps it") {
  const batch before = numbered(2);
  const batch after = before.with(score, {8.0F, 9.0F});
  CHECK(after[score][0] == 8.0F);
  CHECK(before[score][0] == 0.0F);
  CHECK(after.names().size() == before.names().size());
}

TEST_CASE("slicing, joining, selecting and adding columns copy no element") {
  const batch made = numbered(6);
  const float* scores = made[score].values().data();
  const std::int32_t* ids = made[tokens][2].data();
  const char* letters = made[line][2].data();

  CHECK(made[{2, 5}][score].values().data() == scores + 2);
  CHECK(made[{2, 5}][tokens][0].data() == ids);
  CHECK(made[{2, 5}][line][0].data() == letters);
  const batch copy = made;
  CHECK(copy[score].values().data() == scores);
  CHECK(made.select(std::array<std::string_view, 1>{"score"})[score].values().data() == scores);
  CHECK(made.with(column<float>{"reward"}, std::vector<float>(6))[score].values().data() == scores);
  CHECK(made.with_tags(rows::tags_from(0, 6))[score].values().data() == scores);

  const batch again = batch::concat(std::array{made[{0, 2}], made[{2, 6}]});
  CHECK(again[score].values().data() == scores);  // what was one run is one again
  const batch joined = batch::concat(std::array{made, numbered(3)});
  CHECK(joined[{0, 6}][score].values().data() == scores);
  CHECK(joined[{2, 6}][tokens][0].data() == ids);
}

TEST_CASE("values that are moved in are not copied") {
  std::vector<float> scores{1, 2, 3};
  const float* data = scores.data();
  CHECK(batch{}.with(score, std::move(scores))[score].values().data() == data);
}

TEST_CASE("a buffer of another owner is borrowed, and freed once when the last reader is gone") {
  int freed = 0;
  {
    auto* numbers = new float[4]{1, 2, 3, 4};
    const std::shared_ptr<const void> owner(numbers, [&](const void* owned) {
      ++freed;
      delete[] static_cast<const float*>(owned);
    });
    batch slice = batch{}.with_dense("score", type_of(score), buffer{numbers, 16, owner})[{1, 3}];
    CHECK(slice[score].values().data() == numbers + 1);
    const auto view = slice[score];
    slice = batch{};
    CHECK(view[1] == 3.0F);  // a view keeps what it shows
  }
  CHECK(freed == 1);
}

TEST_CASE("offsets that do not lie in their elements are refused") {
  const auto with = [](const std::vector<std::uint64_t>& offsets) {
    return numbered(2).with_ragged("ids", type_of(ragged<std::int32_t>{"ids"}),
                                   buffer::of(std::vector<std::int32_t>{1, 2, 3}), buffer::of(offsets));
  };
  CHECK(with({0, 1, 3})[ragged<std::int32_t>{"ids"}][1].size() == 2);
  CHECK_THROWS_WITH_AS((void)with({0, 2, 1}), "column 'ids': offset 2 falls from 2 to 1", twinkle::error);
  CHECK_THROWS_WITH_AS((void)with({0, 2, 4}), "column 'ids': offsets 0..4 do not lie in the 3 elements",
                       twinkle::error);
  CHECK_THROWS_WITH_AS((void)with({1, 2, 3}), "column 'ids': offsets 1..3 do not lie in the 3 elements",
                       twinkle::error);
  CHECK_THROWS_AS((void)with({0, 1}), twinkle::error);
  CHECK_THROWS_AS((void)with({}), twinkle::error);
}

TEST_CASE("buffers that cannot be read as their type are refused") {
  const auto bytes = std::make_shared<const std::array<double, 4>>();
  const auto* start = reinterpret_cast<const std::byte*>(bytes->data());
  CHECK_THROWS_WITH_AS((void)batch{}.with_dense("score", type_of(score), buffer{start + 1, 8, bytes}),
                       "column 'score': its buffer does not start at a multiple of 4 bytes; copy it", twinkle::error);
  const column<double> wraps{"wraps", {1U << 16, 1U << 16, 1U << 16, 1U << 16}};  // 2^64 is 0 in a size_t
  CHECK_THROWS_WITH_AS((void)numbered(1).with_dense("wraps", type_of(wraps), buffer{}),
                       "column 'wraps': rows of f64[65536,65536,65536,65536] are too large", twinkle::error);
  const column<double> huge{"huge", {1U << 31, 1U << 30}};
  CHECK_THROWS_WITH_AS((void)numbered(1).with_dense("huge", type_of(huge), buffer{}),
                       "column 'huge': rows of f64[2147483648,1073741824] are too large", twinkle::error);
}

TEST_CASE("rows outside the batch are refused with both") {
  const batch made = numbered(3);
  CHECK_THROWS_WITH_AS((void)(made[{1, 4}]), "rows [1,4) do not lie in a batch of 3 rows", twinkle::error);
  CHECK_THROWS_AS((void)(made[{2, 1}]), twinkle::error);
  CHECK((made[{3, 3}]).empty());
}

TEST_CASE("selected columns come in the order asked for, with the identities of the rows") {
  const batch picked = numbered(3)[{1, 3}].select(std::array<std::string_view, 2>{"line", "score"});
  CHECK(picked.names() == names{"line", "score"});
  CHECK(picked[line][0] == "row 1");
  CHECK(picked.tags()[0].id.sequence == 1);
  CHECK_THROWS_WITH_AS((void)picked.select(std::array<std::string_view, 1>{"tokens"}),
                       "no column 'tokens' to select; its columns are line, score", twinkle::error);
  CHECK_THROWS_WITH_AS((void)picked.select(std::array<std::string_view, 2>{"line", "line"}),
                       "column 'line' is selected twice", twinkle::error);
}

TEST_CASE("rows have no identities until they are given") {
  const batch made = rows::chunk_of({{}, {}});
  CHECK_FALSE(made.identified());
  CHECK_THROWS_WITH_AS((void)made.tags(), "the rows of this batch have no identities yet", twinkle::error);
  CHECK(made.with_tags(rows::tags_from(5, 2)).tags()[1].id.sequence == 6);
  CHECK_THROWS_WITH_AS((void)made.with_tags(rows::tags_from(5, 3)), "3 identities for a batch of 2 rows",
                       twinkle::error);
}

TEST_CASE("a batch is tagged like the one that it was made from") {
  const std::array<std::size_t, 1> second{1};
  const batch input = numbered(4).drop(second, "too long");
  const batch output = batch{}.with(score, {1, 2, 3}).tagged_like(input);
  CHECK(output.tags()[1].id.sequence == 2);
  CHECK(output.tombstones() == input.tombstones());
  CHECK(output.shares_tags(input));
  CHECK(output[{1, 3}].shares_tags(input[{1, 3}]));
  CHECK_FALSE(output[{0, 2}].shares_tags(input[{1, 3}]));
  CHECK_FALSE(output.shares_tags(numbered(3)));
  CHECK_THROWS_WITH_AS((void)output.tagged_like(numbered(4)), "the identities of 4 rows for a batch of 3",
                       twinkle::error);
}

TEST_CASE("a tombstone goes with the row that it follows, and those in front with the first row") {
  const std::array<std::size_t, 3> dropped{0, 2, 5};
  const batch left = numbered(6).drop(dropped, "bad");  // rows 1, 3 and 4
  const auto lost_in = [&](twinkle::interval rows) {
    std::vector<std::uint64_t> found;
    for (const twinkle::tombstone& lost : left[rows].tombstones())
      found.push_back(lost.tag.id.sequence);
    return found;
  };
  CHECK(lost_in({0, 1}) == std::vector<std::uint64_t>{0, 2});
  CHECK(lost_in({1, 2}).empty());
  CHECK(lost_in({2, 3}) == std::vector<std::uint64_t>{5});
  CHECK(lost_in({0, 0}).empty());
  CHECK(left.tombstone_count() == 3);
  CHECK(left.without_tombstones().tombstone_count() == 0);
  CHECK(left.without_tombstones().rows() == 3);
}

TEST_CASE("a tombstone that is added stands behind the last row") {
  const batch made = numbered(2).with_tombstone({rows::tags_from(9, 1)[0], "expired"});
  REQUIRE(made.tombstone_count() == 1);
  CHECK(made[{1, 2}].tombstones()[0].reason == "expired");
  CHECK(made[{0, 1}].tombstones().empty());
}

TEST_CASE("the description of rows has their identities, routed columns and lengths, and nothing else can be read") {
  constexpr auto cost = twinkle::routed(twinkle::column<std::int32_t>{"cost"});
  const batch whole = numbered(3).with(cost, {7, 8, 9}).with(ragged<std::int32_t>{"words"}, {{1}, {}, {2, 3}});
  const batch described = whole[{1, 3}].description();
  CHECK(described[cost].values().data() == whole[cost].values().data() + 1);
  CHECK(described.lengths("words") == std::vector<std::uint64_t>{0, 2});
  CHECK(described.tags()[0] == whole.tags()[1]);
  CHECK_THROWS_WITH_AS((void)described[score],
                       "column 'score' is not routed, so that it cannot be read between stages; declare its key with "
                       "twinkle::routed",
                       twinkle::error);
  CHECK_THROWS_WITH_AS((void)described[ragged<std::int32_t>{"words"}],
                       "column 'words' is not routed, so that it cannot be read between stages; of ragged rows only the "
                       "lengths can; put what is needed into a column that is routed",
                       twinkle::error);
  CHECK_THROWS_WITH_AS((void)whole.lengths("cost"), "column 'cost' is i32; only ragged and text rows have lengths",
                       twinkle::error);
}

TEST_CASE("what is made of a description stays one") {
  const batch described = numbered(3).description();
  const std::vector<batch> twice{described, described};
  for (const batch& made : {described.take(std::vector<std::size_t>{2, 0}), batch::concat(twice), described[{0, 2}],
                            described.select(std::vector<std::string_view>{"score"}),
                            described.drop(std::vector<std::size_t>{1}, "odd")})
    CHECK_THROWS_AS((void)made[score], twinkle::error);
}

TEST_CASE("a column that some parts route only is not routed behind them") {
  constexpr twinkle::column<float> plain{"cost"};
  const std::vector<batch> parts{batch{}.with(twinkle::routed(plain), {1}), batch{}.with(plain, {2})};
  CHECK_FALSE(batch::concat(parts).type("cost").routed);
  CHECK(batch::concat({parts.data(), 1}).type("cost").routed);
}
