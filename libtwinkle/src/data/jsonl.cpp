// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/jsonl.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <span>
#include <vector>

#include "twinkle/base/error.hpp"
#include "twinkle/data/jsonl_reader.hpp"
#include "utf8.hpp"

namespace twinkle {
namespace {

std::string quoted_text(std::string_view text) {
  static constexpr std::string_view digits = "0123456789abcdef";
  if (!data::is_utf8(text))
    throw error("text that is not utf-8; keep bytes in a ragged u8 column");
  std::string line = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\')
      (line += '\\') += letter;
    else if (letter == '\n')
      line += "\\n";
    else if (code < 0x20)
      ((line += "\\u00") += digits[code >> 4]) += digits[code & 15];
    else
      line += letter;
  }
  return line += '"';
}

// The shortest digits that are read back as the same number.
template <storable T>
std::string number_text(T number) {
  if constexpr (std::floating_point<T>)
    if (!std::isfinite(number))
      throw error(std::to_string(number) + ", which JSON cannot hold; drop the row or store a finite number");
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  std::string text(digits.data(), end);
  if (std::floating_point<T> && text.find_first_of(".e") == std::string::npos)
    text += ".0";  // it stays no whole number when it is read
  return text;
}

template <storable T>
std::string array_text(std::span<const T> numbers) {
  std::string line = "[";
  for (const T number : numbers)
    line += (line.size() == 1 ? "" : ", ") + number_text(number);
  return line += ']';
}

std::string boolean_text(std::uint8_t value) {
  if (value > 1)
    throw error(std::to_string(value) + ", but a u8 is written as true or false; store whole numbers as i32 or i64");
  return value == 1 ? "true" : "false";
}

// The values of a column as JSON, row by row.
template <class Write>
std::vector<std::string> written(std::string_view name, std::size_t rows, const Write& write) {
  std::vector<std::string> values;
  values.reserve(rows);
  for (std::size_t row = 0; row < rows; ++row)
    try {
      values.push_back(write(row));
    } catch (const error& unfit) {
      throw error("cannot write JSONL: column '" + std::string(name) + "' has in row " + std::to_string(row) + " " +
                  unfit.what());
    }
  return values;
}

template <storable T>
std::vector<std::string> written(const batch& rows, std::string_view name, const column_type& type) {
  if (type.kind == column_type::form::ragged)
    return written(name, rows.rows(),
                   [values = rows[ragged<T>{name}]](std::size_t row) { return array_text(values[row]); });
  const dense_view<T> values = rows[column<T>{name, type.shape}];
  return written(name, rows.rows(), [&](std::size_t row) {
    if (type.shape.rank > 0)
      return array_text(values.row(row));
    if constexpr (std::same_as<T, std::uint8_t>)
      return boolean_text(values[row]);
    else
      return number_text(values[row]);
  });
}

std::vector<std::string> written(const batch& rows, std::string_view name) {
  const column_type type = rows.type(name);
  if (type.kind == column_type::form::text)
    return written(name, rows.rows(), [values = rows[text{name}]](std::size_t row) { return quoted_text(values[row]); });
  switch (type.type) {
    case element::u8: return written<std::uint8_t>(rows, name, type);
    case element::i32: return written<std::int32_t>(rows, name, type);
    case element::i64: return written<std::int64_t>(rows, name, type);
    case element::f32: return written<float>(rows, name, type);
    case element::f64: break;
  }
  return written<double>(rows, name, type);
}

struct field {
  std::string start;  // what stands before the value
  std::vector<std::string> values;
};

std::vector<field> fields_of(const batch& rows) {
  std::vector<field> fields;
  for (const std::string& name : rows.names()) {
    if (!data::is_utf8(name))
      throw error("cannot write JSONL: a column's name is not utf-8");
    fields.push_back({(fields.empty() ? "{" : ", ") + quoted_text(name) + ": ", written(rows, name)});
  }
  if (fields.empty() && !rows.empty())
    throw error("cannot write JSONL: the batch has " + std::to_string(rows.rows()) + " rows, but no columns");
  return fields;
}

}  // namespace

batch from_jsonl(std::string_view text) {
  jsonl_reader reader;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    reader.add(text.substr(0, end), number);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return reader.read();
}

std::string to_jsonl(const batch& rows) {
  const std::vector<field> fields = fields_of(rows);
  std::string lines;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    for (const field& each : fields)
      (lines += each.start) += each.values[row];
    lines += "}\n";
  }
  return lines;
}

}  // namespace twinkle
