// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <optional>

#include "twinkle/flow/collected.hpp"

namespace twinkle::route {
namespace {

// Finds the given row that an identity descends from; rows mostly come in the order in which they were given, so that
// the one of the last row found is tried first, and then the next.
class ancestors {
 public:
  explicit ancestors(std::span<const row_tag> given) : given_(given) {}

  [[nodiscard]] std::optional<std::size_t> find(const identity& id) {
    for (std::size_t ahead = last_; ahead < std::min(last_ + 2, given_.size()); ++ahead)
      if (descends(id, given_[ahead].id))
        return last_ = ahead;
    if (sorted_.empty())
      sort();
    // The ancestor, if it was given, is the greatest identity that is not above this one.
    auto after = std::upper_bound(sorted_.begin(), sorted_.end(), id, [&](const identity& value, std::size_t row) {
      return by_path(value, given_[row].id);
    });
    if (after == sorted_.begin() || !descends(id, given_[*std::prev(after)].id))
      return std::nullopt;
    return last_ = *std::prev(after);
  }

 private:
  // Ancestors before descendants, and those before the next sibling.
  [[nodiscard]] static bool by_path(const identity& a, const identity& b) {
    if (a.source != b.source)
      return a.source < b.source;
    if (a.sequence != b.sequence)
      return a.sequence < b.sequence;
    for (std::size_t at = 0; at < std::min(a.depth, b.depth); ++at)
      if (a.path[at] != b.path[at])
        return a.path[at] < b.path[at];
    return a.depth < b.depth;
  }

  void sort() {
    sorted_.resize(given_.size());
    std::iota(sorted_.begin(), sorted_.end(), std::size_t{0});
    std::stable_sort(sorted_.begin(), sorted_.end(),
                     [&](std::size_t a, std::size_t b) { return by_path(given_[a].id, given_[b].id); });
  }

  std::span<const row_tag> given_;
  std::vector<std::size_t> sorted_;
  std::size_t last_ = 0;
};

std::optional<std::string> find_twice(std::span<const row_tag> tags) {
  std::vector<identity> ids;
  for (const row_tag& tag : tags)
    ids.push_back(tag.id);
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (twice == ids.end())
    return std::nullopt;
  return "it returned row " + to_string(*twice) + " twice";
}

}  // namespace

std::variant<batch, std::string> rows_by_parent(const batch& given, const batch& value) {
  if (value.shares_tags(given))
    return value;
  if (!value.identified()) {
    if (value.rows() != given.rows())
      return "it returned " + std::to_string(value.rows()) + " rows for " + std::to_string(given.rows()) +
             " without saying whose they are; build them from in.expand(parents), or from in.drop(rows, reason)";
    return value.tagged_like(given);
  }
  ancestors origin{given.tags()};
  const std::span<const row_tag> tags = value.tags();
  std::vector<std::size_t> parents;
  std::vector<bool> seen(given.rows(), false);
  for (const row_tag& tag : tags) {
    const auto parent = origin.find(tag.id);
    if (!parent)
      return "it returned row " + to_string(tag.id) + ", which descends from none of the rows that it was given";
    parents.push_back(*parent);
    seen[*parent] = true;
  }
  for (const tombstone& lost : value.tombstones())
    if (const auto parent = origin.find(lost.tag.id))
      seen[*parent] = true;
  if (const auto lost = std::find(seen.begin(), seen.end(), false); lost != seen.end())
    return "it returned nothing for row " +
           to_string(given.tags()[static_cast<std::size_t>(lost - seen.begin())].id) +
           "; use in.drop(rows, reason) for rows that are to be dropped";
  if (const auto twice = find_twice(tags))
    return *twice;
  if (std::is_sorted(parents.begin(), parents.end()))
    return value;
  std::vector<std::size_t> order(parents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return parents[a] < parents[b]; });
  return value.take(order);
}

}  // namespace twinkle::route
