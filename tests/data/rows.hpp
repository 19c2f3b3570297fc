// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "twinkle/data/batch.hpp"

/// Batches for the tests, and what is in one by value, however it is stored.
namespace rows {

inline constexpr twinkle::column<float> score{"score"};
inline constexpr twinkle::column<std::int64_t> point{"point", {2}};
inline constexpr twinkle::ragged<std::int32_t> tokens{"tokens"};
inline constexpr twinkle::text line{"line"};

struct row {
  float score = 0;
  std::array<std::int64_t, 2> point{};
  std::vector<std::int32_t> tokens;
  std::string line;

  friend bool operator==(const row&, const row&) = default;
};

struct content {
  std::vector<row> rows;
  std::vector<twinkle::row_tag> tags;
  std::vector<twinkle::tombstone> tombstones;

  friend bool operator==(const content&, const content&) = default;
};

inline std::ostream& operator<<(std::ostream& out, const content& shown) {
  for (const row& each : shown.rows)
    out << each.score << " (" << each.point[0] << "," << each.point[1] << ") " << each.tokens.size() << " tokens '"
        << each.line << "'; ";
  for (const twinkle::row_tag& tag : shown.tags)
    out << to_string(tag.id) << " ";
  for (const twinkle::tombstone& lost : shown.tombstones)
    out << "lost " << to_string(lost.tag.id) << " " << lost.reason << "; ";
  return out;
}

inline content content_of(const twinkle::batch& from) {
  content found;
  for (std::size_t at = 0; at < from.rows(); ++at) {
    const auto numbers = from[point].row(at);
    const auto ids = from[tokens][at];
    found.rows.push_back({from[score][at], {numbers[0], numbers[1]}, {ids.begin(), ids.end()},
                          std::string(from[line][at])});
  }
  if (from.identified())
    found.tags.assign(from.tags().begin(), from.tags().end());
  found.tombstones = from.tombstones();
  return found;
}

inline content operator+(content a, const content& b) {
  a.rows.insert(a.rows.end(), b.rows.begin(), b.rows.end());
  a.tags.insert(a.tags.end(), b.tags.begin(), b.tags.end());
  a.tombstones.insert(a.tombstones.end(), b.tombstones.begin(), b.tombstones.end());
  return a;
}

/// One chunk, without identities.
inline twinkle::batch chunk_of(const std::vector<row>& from) {
  std::vector<float> scores;
  std::vector<std::int64_t> points;
  std::vector<std::vector<std::int32_t>> ids;
  std::vector<std::string> lines;
  for (const row& each : from) {
    scores.push_back(each.score);
    points.insert(points.end(), each.point.begin(), each.point.end());
    ids.push_back(each.tokens);
    lines.push_back(each.line);
  }
  return twinkle::batch{}.with(score, scores).with(point, points).with(tokens, ids).with(line, lines);
}

/// The tags of rows first, first + 1, … of source 0.
inline std::vector<twinkle::row_tag> tags_from(std::uint64_t first, std::size_t count) {
  std::vector<twinkle::row_tag> tags(count);
  for (std::size_t at = 0; at < count; ++at)
    tags[at].id.sequence = first + at;
  return tags;
}

/// `count` rows with scores first, first + 1, …, with identities of the same numbers.
inline twinkle::batch numbered(std::size_t count, std::uint64_t first = 0) {
  std::vector<row> made(count);
  for (std::size_t at = 0; at < count; ++at) {
    const auto number = static_cast<std::int32_t>(first + at);
    made[at] = {static_cast<float>(number), {number, -number}, std::vector<std::int32_t>(at % 3, number),
                "row " + std::to_string(number)};
  }
  return chunk_of(made).with_tags(tags_from(first, count));
}

/// Rows in chunks, some of them dropped, of which the tombstones are left.
struct drawn {
  std::vector<row> rows;
  std::vector<std::size_t> dropped;
};

inline twinkle::batch batch_of(const std::vector<drawn>& chunks) {
  std::vector<twinkle::batch> parts{numbered(0)};
  std::uint64_t sequence = 0;
  for (const drawn& each : chunks) {
    parts.push_back(chunk_of(each.rows).with_tags(tags_from(sequence, each.rows.size())).drop(each.dropped, "bad"));
    sequence += each.rows.size();
  }
  return twinkle::batch::concat(parts);
}

/// Some rows out of the middle of several small chunks, with identities, and tombstones between and around them.
inline twinkle::batch any_batch(const std::string& name) {
  const auto chunks = *rc::gen::resize(8, rc::gen::arbitrary<std::vector<drawn>>()).as(name);
  const twinkle::batch whole = batch_of(chunks);
  const auto first = *rc::gen::inRange<std::size_t>(0, whole.rows() / 2 + 1);
  const auto end = *rc::gen::inRange<std::size_t>(first, whole.rows() + 1);
  return whole[{first, end}];
}

}  // namespace rows

template <>
struct rc::Arbitrary<rows::row> {
  static Gen<rows::row> arbitrary() {
    return gen::build<rows::row>(gen::set(&rows::row::score, gen::map<std::int16_t>([](std::int16_t number) {
                                            return static_cast<float>(number) / 4;
                                          })),
                                 gen::set(&rows::row::point), gen::set(&rows::row::tokens), gen::set(&rows::row::line));
  }
};

template <>
struct rc::Arbitrary<rows::drawn> {
  static Gen<rows::drawn> arbitrary() {
    const auto with_drops = [](const std::vector<std::pair<rows::row, bool>>& all) {
      rows::drawn made;
      for (const auto& [row, dropped] : all) {
        if (dropped)
          made.dropped.push_back(made.rows.size());
        made.rows.push_back(row);
      }
      return made;
    };
    return gen::map<std::vector<std::pair<rows::row, bool>>>(with_drops);
  }
};
