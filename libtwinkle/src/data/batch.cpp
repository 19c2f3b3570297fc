// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/batch.hpp"

#include "column_check.hpp"
#include "table.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/base/list.hpp"

namespace twinkle {

using data::column_store;
using data::slot;
using data::table;

namespace {

std::string columns_text(const std::vector<std::string>& names) {
  return names.empty() ? "it has no columns" : "its columns are " + list(names);
}

}  // namespace

batch::batch() {
  static const auto nothing = std::make_shared<const table>();
  table_ = nothing;
}

batch::batch(std::shared_ptr<const table> rows_of, interval rows) : table_(std::move(rows_of)), rows_(rows) {}

batch batch::of(table made) {
  const std::size_t rows = made.rows;
  return {std::make_shared<const table>(std::move(made)), {0, rows}};
}

table batch::view() const {
  table copy;
  copy.rows = rows();
  copy.columns = table_->columns;
  for (slot& column : copy.columns)
    column.first += rows_.first;
  copy.tags = table_->tags;
  if (copy.tags)
    copy.tags->first += rows_.first;
  copy.graves = graves_of(*table_, rows_);
  return copy;
}

bool batch::has(std::string_view name) const { return table_->find(name) != nullptr; }

std::vector<std::string> batch::names() const {
  std::vector<std::string> found;
  for (const slot& column : table_->columns)
    found.push_back(column.store->name());
  return found;
}

column_type batch::type(std::string_view name) const {
  const slot* column = table_->find(name);
  if (column == nullptr)
    throw error("no column '" + std::string(name) + "' in this batch; " + columns_text(names()));
  return column->store->type();
}

column_bytes batch::read(std::string_view name, column_type type) const {
  if (const column_type stored = this->type(name); stored != type)
    throw error("column '" + std::string(name) + "' is " + to_string(stored) + ", but is read as " + to_string(type));
  const slot* column = table_->find(name);
  if (column->withheld)
    throw error("column '" + std::string(name) + "' is not routed, so that it cannot be read between stages; " +
                (type.kind == column_type::form::dense
                     ? "declare its key with twinkle::routed"
                     : "of ragged rows only the lengths can; put what is needed into a column that is routed"));
  return contiguous(*column);
}

column_bytes batch::contiguous(const data::slot& column) const {
  const std::size_t first = column.first + rows_.first;
  return column_store::contiguous(column.store, {first, first + rows()});
}

std::vector<std::uint64_t> batch::lengths(std::string_view name) const {
  if (const column_type stored = type(name); stored.kind == column_type::form::dense)
    throw error("column '" + std::string(name) + "' is " + to_string(stored) + "; only ragged and text rows have lengths");
  const slot& column = *table_->find(name);
  const std::size_t first = column.first + rows_.first;
  std::vector<std::uint64_t> found;
  found.reserve(rows());
  column.store->append_lengths({first, first + rows()}, found);
  return found;
}

batch batch::description() const {
  table made = view();
  for (slot& column : made.columns)
    column.withheld = column.withheld || !column.store->type().routed;
  return of(std::move(made));
}

batch batch::with_column(std::string_view name, const column_type& type, data::chunk only) const {
  table made = view();
  made.rows = only.rows;
  std::erase_if(made.columns, [&](const slot& each) { return each.store->name() == name; });
  std::vector<data::chunk> chunks;
  if (only.rows > 0)
    chunks.push_back(std::move(only));
  made.columns.push_back({std::make_shared<const column_store>(std::string(name), type, std::move(chunks)), 0});
  return of(std::move(made));
}

batch batch::with_dense(std::string_view name, column_type type, buffer values) const {
  const std::string who = "column '" + std::string(name) + "'";
  const std::size_t row_bytes = data::row_bytes(who, type);
  const bool fresh = table_->columns.empty() && !identified() && rows() == 0;
  const std::size_t count = fresh && row_bytes > 0 ? values.bytes() / row_bytes : rows();
  data::check_dense(who, type, values, count);
  return with_column(name, type, {std::move(values), buffer{}, 0, count});
}

batch batch::with_ragged(std::string_view name, column_type type, buffer values, buffer offsets) const {
  const bool fresh = table_->columns.empty() && !identified() && rows() == 0;
  const std::size_t count =
      fresh && offsets.bytes() >= sizeof(std::uint64_t) ? offsets.bytes() / sizeof(std::uint64_t) - 1 : rows();
  data::check_ragged("column '" + std::string(name) + "'", type, values, offsets, count);
  return with_column(name, type, {std::move(values), std::move(offsets), 0, count});
}

batch batch::with(const text& key, const std::vector<std::string>& values) const {
  std::vector<char> joined;
  std::vector<std::uint64_t> offsets{0};
  for (const std::string& row : values) {
    joined.insert(joined.end(), row.begin(), row.end());
    offsets.push_back(joined.size());
  }
  return with_ragged(key.name, type_of(key), buffer::of(std::move(joined)), buffer::of(std::move(offsets)));
}

batch batch::operator[](interval wanted) const {
  if (wanted.first > wanted.end || wanted.end > rows())
    throw error("rows " + to_string(wanted) + " do not lie in a batch of " + std::to_string(rows()) + " rows");
  return {table_, {rows_.first + wanted.first, rows_.first + wanted.end}};
}

batch batch::select(std::span<const std::string_view> wanted) const {
  table made = view();
  made.columns.clear();
  for (const std::string_view name : wanted) {
    const slot* column = table_->find(name);
    if (column == nullptr)
      throw error("no column '" + std::string(name) + "' to select; " + columns_text(names()));
    if (made.find(name) != nullptr)
      throw error("column '" + std::string(name) + "' is selected twice");
    made.columns.push_back({column->store, column->first + rows_.first, column->withheld});
  }
  return of(std::move(made));
}

bool batch::identified() const { return table_->tags.has_value(); }

std::span<const row_tag> batch::tags() const {
  if (!identified())
    throw error("the rows of this batch have no identities yet");
  const std::size_t first = table_->tags->first + rows_.first;
  const column_bytes bytes = column_store::contiguous(table_->tags->store, {first, first + rows()});
  return {reinterpret_cast<const row_tag*>(bytes.values), rows()};
}

batch batch::with_tags(std::vector<row_tag> tags) const {
  if (tags.size() != rows())
    throw error(std::to_string(tags.size()) + " identities for a batch of " + std::to_string(rows()) + " rows");
  table made = view();
  made.tags = data::tag_slot(std::move(tags));
  return of(std::move(made));
}

batch batch::tagged_like(const batch& from) const {
  if (from.rows() != rows())
    throw error("the identities of " + std::to_string(from.rows()) + " rows for a batch of " + std::to_string(rows()));
  table made = view();
  table other = from.view();
  made.tags = std::move(other.tags);
  made.graves = std::move(other.graves);
  return of(std::move(made));
}

batch batch::beside(const batch& other) const {
  if (other.rows() != rows())
    throw error("the columns of " + std::to_string(other.rows()) + " rows beside those of " + std::to_string(rows()));
  table made = view();
  table more = other.view();
  for (slot& column : more.columns)
    if (made.find(column.store->name()) == nullptr)
      made.columns.push_back(std::move(column));
  return of(std::move(made));
}

bool batch::shares_tags(const batch& from) const {
  return identified() && from.identified() && rows() == from.rows() && table_->tags->store == from.table_->tags->store &&
         table_->tags->first + rows_.first == from.table_->tags->first + from.rows_.first;
}

std::vector<tombstone> batch::tombstones() const {
  std::vector<tombstone> found;
  for (data::grave& each : graves_of(*table_, rows_))
    found.push_back(std::move(each.lost));
  return found;
}

std::size_t batch::tombstone_count() const { return table_->graves.empty() ? 0 : graves_of(*table_, rows_).size(); }

batch batch::with_tombstone(tombstone lost) const {
  table made = view();
  made.graves.push_back({rows(), std::move(lost)});
  return of(std::move(made));
}

batch batch::without_tombstones() const {
  if (table_->graves.empty())
    return *this;
  table made = view();
  made.graves.clear();
  return of(std::move(made));
}

}  // namespace twinkle
