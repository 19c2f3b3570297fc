// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

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
      return precedes(value, given_[row].id);
    });
    if (after == sorted_.begin() || !descends(id, given_[*std::prev(after)].id))
      return std::nullopt;
    return last_ = *std::prev(after);
  }

 private:
  void sort() {
    sorted_.resize(given_.size());
    std::iota(sorted_.begin(), sorted_.end(), std::size_t{0});
    std::stable_sort(sorted_.begin(), sorted_.end(),
                     [&](std::size_t a, std::size_t b) { return precedes(given_[a].id, given_[b].id); });
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

// A row or tombstone that came back, and how deep the given row lies that it descends from.
struct arrival {
  identity id;
  std::uint32_t given_depth = 0;

  friend auto operator<=>(const arrival&, const arrival&) = default;
};

// The groups below the given rows must be whole, or those who wait for a whole group would wait for ever.
std::optional<std::string> find_lost_child(std::vector<arrival> back) {
  for (std::uint32_t depth = identity::depth_max; depth > 0; --depth) {
    std::vector<arrival> children;
    std::copy_if(back.begin(), back.end(), std::back_inserter(children), [&](const arrival& each) {
      return each.id.depth == depth && each.given_depth < depth;
    });
    std::sort(children.begin(), children.end());
    children.erase(std::unique(children.begin(), children.end()), children.end());
    for (auto first = children.begin(); first != children.end();) {
      const identity parent = parent_of(first->id);
      const std::size_t count = first->id.path[depth - 1].count;
      const auto end = std::find_if(first, children.end(), [&](const arrival& each) { return parent_of(each.id) != parent; });
      if (static_cast<std::size_t>(end - first) != count)
        return "it returned " + std::to_string(end - first) + " of the " + std::to_string(count) + " children of row " +
               to_string(parent) + "; use in.drop(rows, reason) for rows that are to be dropped";
      back.push_back({parent, first->given_depth});
      first = end;
    }
  }
  return std::nullopt;
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
  if (!given.identified())
    return "it returned rows with identities for rows that have none";
  ancestors origin{given.tags()};
  const std::span<const row_tag> tags = value.tags();
  std::vector<std::size_t> parents;
  std::vector<bool> seen(given.rows(), false);
  std::vector<arrival> back;
  const auto arrive = [&](const identity& id, std::size_t parent) {
    seen[parent] = true;
    if (const std::uint32_t depth = given.tags()[parent].id.depth; id.depth > depth)
      back.push_back({id, depth});
  };
  for (const row_tag& tag : tags) {
    const auto parent = origin.find(tag.id);
    if (!parent)
      return "it returned row " + to_string(tag.id) + ", which descends from none of the rows that it was given";
    parents.push_back(*parent);
    arrive(tag.id, *parent);
  }
  for (const tombstone& lost : value.tombstones())
    if (const auto parent = origin.find(lost.tag.id))
      arrive(lost.tag.id, *parent);
  if (const auto lost = std::find(seen.begin(), seen.end(), false); lost != seen.end())
    return "it returned nothing for row " +
           to_string(given.tags()[static_cast<std::size_t>(lost - seen.begin())].id) +
           "; use in.drop(rows, reason) for rows that are to be dropped";
  if (const auto twice = find_twice(tags))
    return *twice;
  if (const auto lost = find_lost_child(std::move(back)))
    return *lost;
  if (std::is_sorted(parents.begin(), parents.end()))
    return value;
  std::vector<std::size_t> order(parents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return parents[a] < parents[b]; });
  return value.take(order);
}

batch with_unread(const batch& given, const batch& value, const std::vector<std::string>& around) {
  std::vector<std::string_view> unread;
  for (const std::string& name : around)
    if (given.has(name) && !value.has(name))
      unread.push_back(name);
  if (unread.empty() || value.names().empty())
    return value;
  const batch others = given.select(unread);
  if (value.empty())
    return value.beside(others[{0, 0}]);
  if (value.shares_tags(given) || (!value.identified() && value.rows() == given.rows()))
    return value.beside(others);
  if (!value.identified() || !given.identified())
    return value;
  ancestors origin{given.tags()};
  std::vector<batch> pieces;
  interval run;
  for (const row_tag& tag : value.tags()) {
    const auto parent = origin.find(tag.id);
    if (!parent)
      return value;
    if (!run.empty() && *parent != run.end)
      pieces.push_back(others[std::exchange(run, {*parent, *parent})]);
    run = {run.empty() ? *parent : run.first, *parent + 1};
  }
  pieces.push_back(others[run]);
  return value.beside(batch::concat(pieces));
}

}  // namespace twinkle::route
