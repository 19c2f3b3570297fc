// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/join.hpp"

#include <algorithm>
#include <utility>

#include "twinkle/base/error.hpp"
#include "twinkle/flow/regroup.hpp"

namespace twinkle {

namespace {

// Where one branch made children of its rows they would wait for each other for ever.
template <class Ids>
void check_related(const identity& id, const Ids& others) {
  for (identity at = id; at.depth > 0;) {
    at = parent_of(at);
    if (others.contains(at))
      throw error("zip: row " + to_string(id) + " of one branch is a child of row " + to_string(at) +
                  " of the other; neither branch may expand its rows");
  }
}

}  // namespace

void join::expect(const identity& id) {
  if (!expected_.insert(id).second)
    throw error("zip: row " + to_string(id) + " came twice");
  check_related(id, second_);
}

std::vector<batch> join::add(std::size_t side, const batch& rows) {
  received_[side] += count_of(rows);
  if (!rows.empty() && !rows.identified())
    throw error("zip: rows without identities cannot be matched");
  if (side == 0) {
    if (!rows.empty())
      for (const row_tag& tag : rows.tags())
        expect(tag.id);
    for (const tombstone& lost : rows.tombstones())
      expect(lost.tag.id);
    first_.push_back(rows);
  } else {
    const batch real = rows.without_tombstones();
    const auto keep = [&](const identity& id, batch one) {
      if (!second_.emplace(id, std::move(one)).second)
        throw error("zip: row " + to_string(id) + " came twice");
      check_related(id, expected_);
    };
    for (std::size_t row = 0; row < real.rows(); ++row)
      keep(real.tags()[row].id, real[interval{row, row + 1}]);
    for (tombstone& lost : rows.tombstones()) {
      const identity id = lost.tag.id;
      keep(id, batch{}.with_tombstone(std::move(lost)));
    }
  }
  std::vector<batch> ready;
  while (!first_.empty() && complete(first_.front())) {
    ready.push_back(match(first_.front()));
    first_.pop_front();
  }
  return ready;
}

bool join::complete(const batch& rows) const {
  const std::vector<tombstone> lost = rows.tombstones();
  return (rows.empty() || std::all_of(rows.tags().begin(), rows.tags().end(),
                                      [&](const row_tag& tag) { return second_.contains(tag.id); })) &&
         std::all_of(lost.begin(), lost.end(), [&](const tombstone& each) { return second_.contains(each.tag.id); });
}

batch join::match(const batch& rows) {
  std::vector<tombstone> lost = rows.tombstones();
  std::vector<std::size_t> kept;
  std::vector<batch> partners;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    expected_.erase(rows.tags()[row].id);
    batch partner = std::move(second_.extract(rows.tags()[row].id).mapped());
    if (partner.empty()) {
      lost.push_back(partner.tombstones().front());
    } else {
      kept.push_back(row);
      partners.push_back(std::move(partner));
    }
  }
  for (const tombstone& each : rows.tombstones()) {
    expected_.erase(each.tag.id);
    second_.erase(each.tag.id);
  }
  batch joined = rows.without_tombstones();
  if (kept.size() < rows.rows())
    joined = joined.take(kept);
  if (!kept.empty()) {
    const batch others = batch::concat(partners);
    joined = joined.beside(others);
    std::vector<row_tag> tags(joined.tags().begin(), joined.tags().end());
    for (std::size_t row = 0; row < tags.size(); ++row)  // as old as the older of both
      if (const std::int64_t version = others.tags()[row].version; version != row_tag::unsampled)
        tags[row].version = tags[row].version == row_tag::unsampled ? version : std::min(tags[row].version, version);
    joined = joined.with_tags(std::move(tags));
  }
  for (tombstone& each : lost)
    joined = joined.with_tombstone(std::move(each));
  return joined;
}

std::size_t join::held() const {
  std::size_t rows = second_.size();
  for (const batch& each : first_)
    rows += count_of(each);
  return rows;
}

std::string join::lonely() const {
  for (const batch& each : first_) {
    for (std::size_t row = 0; row < each.rows(); ++row)
      if (!second_.contains(each.tags()[row].id))
        return "row " + to_string(each.tags()[row].id) + " came on one side only";
    for (const tombstone& lost : each.tombstones())
      if (!second_.contains(lost.tag.id))
        return "row " + to_string(lost.tag.id) + " came on one side only";
  }
  return "row " + to_string(second_.begin()->first) + " came on one side only";
}

}  // namespace twinkle
