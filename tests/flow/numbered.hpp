// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "twinkle/flow/route.hpp"
#include "twinkle/mesh/device_mesh.hpp"

/// Rows that are known by a number, and teams of workers, for the tests of what flows.
namespace flow_test {

using numbers = std::vector<std::int64_t>;

inline constexpr auto number = twinkle::routed(twinkle::column<std::int64_t>{"number"});

/// Rows first, first + 1, … without identities.
inline twinkle::batch plain(std::size_t count, std::int64_t first = 0) {
  numbers values(count);
  for (std::size_t at = 0; at < count; ++at)
    values[at] = first + static_cast<std::int64_t>(at);
  return twinkle::batch{}.with(number, std::move(values));
}

/// The same, with identities of the same numbers.
inline twinkle::batch numbered(std::size_t count, std::int64_t first = 0) {
  std::vector<twinkle::row_tag> tags(count);
  for (std::size_t at = 0; at < count; ++at)
    tags[at].id.sequence = static_cast<std::uint64_t>(first) + at;
  return plain(count, first).with_tags(std::move(tags));
}

/// With a column that a process of some node keeps.
inline twinkle::batch kept_by(const twinkle::batch& rows, std::size_t node, std::uint64_t life = 1) {
  constexpr twinkle::column<double> wide{"wide"};
  return rows.with_dense(wide.name, type_of(wide),
                         twinkle::buffer{std::make_shared<const twinkle::far_bytes>(
                                             node, twinkle::far_bytes::first_key(life)),
                                         0, rows.rows() * sizeof(double)});
}

/// `each` children of every row, with the numbers of their parents.
inline twinkle::batch children(const twinkle::batch& of, std::size_t each) {
  std::vector<std::size_t> parents;
  for (std::size_t row = 0; row < of.rows(); ++row)
    parents.insert(parents.end(), each, row);
  return of.expand(parents);
}

inline twinkle::batch join(const std::vector<twinkle::batch>& parts) { return twinkle::batch::concat(parts); }

inline numbers numbers_of(const twinkle::batch& from) {
  if (from.empty())
    return {};
  const auto values = from[number];
  return {values.begin(), values.end()};
}

/// "0:3/1" of each row.
inline std::vector<std::string> names_of(const twinkle::batch& from) {
  std::vector<std::string> names;
  if (!from.empty())
    for (const twinkle::row_tag& tag : from.tags())
      names.push_back(to_string(tag.id));
  return names;
}

inline std::vector<std::string> lost_in(const twinkle::batch& from) {
  std::vector<std::string> names;
  for (const twinkle::tombstone& each : from.tombstones())
    names.push_back(to_string(each.tag.id));
  return names;
}

/// Workers "s/0", "s/1", … of consecutive ranks of a mesh.
inline twinkle::route::team team_of(const twinkle::mesh_sizes& sizes, std::size_t ranks_each = 1) {
  const auto mesh = twinkle::device_mesh::from_sizes(sizes);
  twinkle::route::team made{"s", "devices", {}, {}, {}};
  for (std::size_t rank = 0; rank < mesh.world_size(); rank += ranks_each) {
    made.places.push_back("s/" + std::to_string(made.places.size()));
    made.data_rank.push_back(mesh.data_rank(rank));
  }
  for (const std::size_t rank : mesh.representatives())
    made.representatives.push_back(rank / ranks_each);
  return made;
}

/// A call of an endpoint named "work" with a batch.
inline twinkle::route::call call_with(twinkle::batch rows) {
  twinkle::route::call wanted{"work"};
  wanted.input = std::move(rows);
  return wanted;
}

inline const twinkle::batch& rows_of(const twinkle::payload& from) { return std::get<twinkle::batch>(from); }
inline const twinkle::payload& one(const twinkle::collected& from) { return std::get<twinkle::payload>(from); }

/// The value of an outcome that is one batch.
inline twinkle::batch rows_of(const twinkle::route::outcome& from) { return rows_of(one(from.value.value())); }

}  // namespace flow_test
