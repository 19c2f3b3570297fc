// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/jsonl_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "jsonl_line.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle {

using data::json_fields;
using data::json_value;
using data::kind_of;

namespace {

using wholes = std::vector<std::int64_t>;
using fractional = std::vector<double>;

struct field {
  std::string name;
  std::vector<json_value> values;  // of one kind
};

bool widens(const json_value& value, const json_value& to) {
  return (std::holds_alternative<std::int64_t>(value) && std::holds_alternative<double>(to)) ||
         (std::holds_alternative<wholes>(value) && std::holds_alternative<fractional>(to));
}

json_value widened(const json_value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value))
    return data::widened(*whole);
  return data::widened(std::get<wholes>(value));
}

void check_kind(const field& column, const json_value& value, std::size_t first_line, jsonl_reader::fractions how) {
  const json_value& like = column.values.front();
  if (widens(value, like))
    (void)widened(value);
  else if (widens(like, value) && how == jsonl_reader::fractions::widen)
    std::for_each(column.values.begin(), column.values.end(), [](const json_value& each) { (void)widened(each); });
  else if (value.index() != like.index())
    throw error("field '" + column.name + "' is " + std::string(kind_of(value)) + ", but " +
                std::string(kind_of(like)) + " in line " + std::to_string(first_line) +
                (widens(like, value) ? "; lines are read apart here, so let that one have a fraction (1.0)" : ""));
}

void append(field& column, json_value value) {
  const json_value& like = column.values.front();
  if (widens(value, like))
    value = widened(value);
  else if (widens(like, value))
    std::transform(column.values.begin(), column.values.end(), column.values.begin(), widened);
  column.values.push_back(std::move(value));
}

// Brings the values of a line into the order of the columns.
std::vector<json_value> in_order(const std::vector<field>& columns, json_fields row, std::size_t first_line,
                                 jsonl_reader::fractions how) {
  const std::string first = "line " + std::to_string(first_line);
  std::vector<json_value> values;
  for (const field& column : columns) {
    const auto found = std::find_if(row.begin(), row.end(), [&](const auto& each) { return each.first == column.name; });
    if (found == row.end())
      throw error("field '" + column.name + "' is missing; " + first + " has it");
    check_kind(column, found->second, first_line, how);
    values.push_back(std::move(found->second));
    row.erase(found);
  }
  if (!row.empty())
    throw error("field '" + row.front().first + "' is new; " + first + " has no such field");
  return values;
}

batch with(const batch& rows, const std::string& name, const std::vector<std::string>& values) {
  return rows.with(text{name}, values);
}
template <class T>
batch with(const batch& rows, const std::string& name, std::vector<T> values) {
  return rows.with(column<T>{name}, std::move(values));
}
template <class T>
batch with(const batch& rows, const std::string& name, const std::vector<std::vector<T>>& values) {
  return rows.with(ragged<T>{name}, values);
}

batch with_field(const batch& rows, const field& column) {
  return std::visit(
      [&]<class T>(const T&) {
        std::vector<T> values;
        values.reserve(column.values.size());
        for (const json_value& each : column.values)
          values.push_back(std::get<T>(each));
        return with(rows, column.name, std::move(values));
      },
      column.values.front());
}

}  // namespace

struct jsonl_reader::state {
  std::vector<field> columns;
  std::size_t rows = 0;
  std::size_t first_line = 0;
  fractions how = fractions::widen;

  void add(json_fields row, std::size_t number) {
    if (rows == 0) {
      first_line = number;
      for (auto& [name, value] : row)
        columns.push_back({std::move(name), {std::move(value)}});
    } else {
      std::vector<json_value> values = in_order(columns, std::move(row), first_line, how);
      for (std::size_t at = 0; at < columns.size(); ++at)
        append(columns[at], std::move(values[at]));
    }
    ++rows;
  }
};

jsonl_reader::jsonl_reader() : state_(std::make_unique<state>()) {}
jsonl_reader::jsonl_reader(fractions how) : jsonl_reader() { state_->how = how; }
jsonl_reader::~jsonl_reader() = default;

bool jsonl_reader::add(std::string_view line, std::size_t number) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (number == 1 && line.starts_with(mark))
    line.remove_prefix(mark.size());
  if (line.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return false;
  try {
    state_->add(data::parse_line(line), number);
  } catch (const error& bad) {
    throw error("line " + std::to_string(number) + ": " + bad.what());
  }
  return true;
}

std::size_t jsonl_reader::rows() const { return state_->rows; }

batch jsonl_reader::read() const {
  batch rows;
  for (const field& column : state_->columns)
    rows = with_field(rows, column);
  return rows;
}

}  // namespace twinkle
