// SPDX-License-Identifier: Apache-2.0
// What makes new rows out of those of a batch: concat, take, expand, drop.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>

#include "table.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/base/list.hpp"
#include "twinkle/data/batch.hpp"

namespace twinkle {

using data::chunk;
using data::column_store;
using data::slot;
using data::table;

namespace {

std::string describe(const table& from) {
  std::vector<std::string> parts;
  for (const slot& column : from.columns)
    parts.push_back(column.store->name() + " (" + to_string(column.store->type()) + ")");
  return parts.empty() ? "no columns" : list(parts);
}

void check_alike(const table& first, const table& other, std::size_t part) {
  bool alike = first.columns.size() == other.columns.size();
  for (const slot& column : first.columns) {
    const slot* twin = other.find(column.store->name());
    alike = alike && twin != nullptr && twin->store->type() == column.store->type();
  }
  if (!alike)
    throw error("cannot put batches together: part " + std::to_string(part) + " has " + describe(other) +
                ", the first has " + describe(first));
  if (first.tags.has_value() != other.tags.has_value())
    throw error("cannot put batches together: part " + std::to_string(part) + " and the first differ in whether their "
                "rows have identities");
}

// Rows that lie on another node stay there: those that follow each other become one chunk.
slot gather_far(const slot& from, std::span<const std::size_t> rows) {
  std::vector<chunk> chunks;
  for (std::size_t at = 0; at < rows.size();) {
    const std::size_t first = rows[at];
    std::size_t count = 1;
    while (at + count < rows.size() && rows[at + count] == first + count)
      ++count;
    from.store->append({from.first + first, from.first + first + count}, chunks);
    at += count;
  }
  return {std::make_shared<const column_store>(from.store->name(), from.store->type(), std::move(chunks)), 0,
          from.withheld};
}

slot gather(const slot& from, std::size_t rows_there, std::span<const std::size_t> rows) {
  if (from.store->far())
    return gather_far(from, rows);
  const column_type type = from.store->type();
  const column_bytes bytes = column_store::contiguous(from.store, {from.first, from.first + rows_there});
  const std::size_t unit = bytes_of(type.type) * type.shape.width();
  const bool dense = type.kind == column_type::form::dense;
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::byte> values;
  for (const std::size_t row : rows) {
    const std::size_t first = dense ? row : bytes.offsets[row];
    const std::size_t count = dense ? 1 : bytes.offsets[row + 1] - first;
    values.insert(values.end(), bytes.values + first * unit, bytes.values + (first + count) * unit);
    offsets.push_back(offsets.back() + count);
  }
  std::vector<chunk> chunks;
  if (!rows.empty())
    chunks.push_back({buffer::of(std::move(values)), dense ? buffer{} : buffer::of(std::move(offsets)), 0, rows.size()});
  return {std::make_shared<const column_store>(from.store->name(), type, std::move(chunks)), 0, from.withheld};
}

// For each row of `from`, how many of the taken rows come before it.
std::vector<std::size_t> taken_before(std::size_t rows, std::span<const std::size_t> taken) {
  std::vector<std::size_t> before(rows + 1, 0);
  for (const std::size_t row : taken)
    ++before[row + 1];
  std::partial_sum(before.begin(), before.end(), before.begin());
  return before;
}

void check_rows(std::span<const std::size_t> rows, std::size_t there) {
  for (const std::size_t row : rows)
    if (row >= there)
      throw error("row " + std::to_string(row) + " does not lie in a batch of " + std::to_string(there) + " rows");
}

table gather(const table& from, std::span<const std::size_t> rows) {
  check_rows(rows, from.rows);
  table made;
  made.rows = rows.size();
  for (const slot& column : from.columns)
    made.columns.push_back(gather(column, from.rows, rows));
  if (from.tags)
    made.tags = gather(*from.tags, from.rows, rows);
  const std::vector<std::size_t> before = taken_before(from.rows, rows);
  for (const data::grave& each : from.graves)
    made.graves.push_back({before[each.behind], each.lost});
  return made;
}

// Puts the tombstones of rows that are about to go, ascending, in their place among those that are there.
void bury(table& from, std::vector<data::grave> lost) {
  std::vector<data::grave> all;
  all.reserve(lost.size() + from.graves.size());
  std::merge(lost.begin(), lost.end(), from.graves.begin(), from.graves.end(), std::back_inserter(all),
             [](const data::grave& a, const data::grave& b) { return a.behind < b.behind; });
  from.graves = std::move(all);
}

}  // namespace

batch batch::concat(std::span<const batch> parts) {
  table made;
  std::vector<const batch*> full;  // those that say what the columns are
  for (const batch& part : parts) {
    for (data::grave& each : graves_of(*part.table_, part.rows_))
      made.graves.push_back({made.rows + each.behind, std::move(each.lost)});
    made.rows += part.rows();
    const bool content = !part.empty() || !part.table_->columns.empty();
    if (content && !part.empty() && !full.empty() && full.front()->empty())
      full.clear();
    if (content && (!part.empty() || full.empty()))
      full.push_back(&part);
  }
  if (full.empty())
    return of(std::move(made));
  const table& first = *full.front()->table_;
  for (std::size_t at = 1; at < full.size(); ++at)
    if (full[at]->table_ != full.front()->table_)
      check_alike(first, *full[at]->table_, at);
  const auto join = [&](const slot& like, const auto& find) {
    std::vector<chunk> chunks;
    column_type type = like.store->type();
    bool withheld = false;
    for (const batch* part : full) {
      const slot& column = part->table_ == full.front()->table_ ? like : *find(*part->table_);
      column.store->append({column.first + part->rows_.first, column.first + part->rows_.end}, chunks);
      type.routed = type.routed && column.store->type().routed;
      withheld = withheld || column.withheld;
    }
    return slot{std::make_shared<const column_store>(like.store->name(), type, std::move(chunks)), 0, withheld};
  };
  for (const slot& column : first.columns)
    made.columns.push_back(join(column, [&](const table& in) { return in.find(column.store->name()); }));
  if (first.tags)
    made.tags = join(*first.tags, [](const table& in) { return &*in.tags; });
  return of(std::move(made));
}

batch batch::take(std::span<const std::size_t> rows) const { return of(gather(view(), rows)); }

batch batch::expand(std::span<const std::size_t> parents) const {
  const std::span<const row_tag> before = tags();
  check_rows(parents, rows());
  std::vector<std::uint32_t> counts(rows(), 0);
  for (const std::size_t parent : parents)
    ++counts[parent];
  std::vector<data::grave> childless;
  for (std::size_t row = 0; row < rows(); ++row)
    if (counts[row] == 0)
      childless.push_back({row + 1, {before[row], "no children"}});
  table from = view();
  bury(from, std::move(childless));
  table made = gather(from, parents);
  std::vector<std::uint32_t> next(rows(), 0);
  std::vector<row_tag> children;
  children.reserve(parents.size());
  for (const std::size_t parent : parents) {
    row_tag tag = before[parent];
    tag.id = child_of(tag.id, next[parent]++, counts[parent]);
    children.push_back(tag);
  }
  made.tags = data::tag_slot(std::move(children));
  return of(std::move(made));
}

batch batch::drop(std::span<const std::size_t> dropped, std::string_view reason) const {
  const std::span<const row_tag> before = tags();
  std::vector<std::size_t> kept;
  std::vector<data::grave> lost;
  auto next = dropped.begin();
  for (std::size_t row = 0; row < rows(); ++row) {
    if (next == dropped.end() || *next != row) {
      kept.push_back(row);
      continue;
    }
    lost.push_back({row + 1, {before[row], std::string(reason)}});
    ++next;
  }
  if (next != dropped.end())
    throw error("cannot drop row " + std::to_string(*next) + " of " + std::to_string(rows()) +
                "; rows to drop must be ascending and in the batch");
  table from = view();
  bury(from, std::move(lost));
  return of(gather(from, kept));
}

batch batch::unfinished(std::span<const std::size_t> rows) const {
  std::vector<row_tag> changed(tags().begin(), tags().end());
  check_rows(rows, changed.size());
  for (const std::size_t row : rows)
    changed[row].unfinished = true;
  return with_tags(std::move(changed));
}

}  // namespace twinkle
