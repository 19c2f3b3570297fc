// SPDX-License-Identifier: Apache-2.0
#include "jsonl_line.hpp"

#include <algorithm>
#include <array>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/parse_options.hpp>
#include <charconv>

#include "twinkle/base/error.hpp"
#include "twinkle/data/jsonl_reader.hpp"

namespace twinkle::data {
namespace {

using boost::json::error_code;
using boost::json::string_view;

// Takes the events of the parser. What is no row is refused at once, so nothing deep is ever built.
class line_handler {
 public:
  static constexpr std::size_t max_object_size = jsonl_reader::fields_max;
  static constexpr std::size_t max_key_size = jsonl_reader::name_bytes_max;
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  json_fields fields;

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }

  bool on_object_begin(error_code&) {
    if (in_object_)
      refuse("holds an object; a field holds text, a number, true or false, or an array of numbers");
    in_object_ = true;
    return true;
  }
  bool on_object_end(std::size_t, error_code&) {
    if (fields.empty())
      throw error("the object has no fields");
    return true;
  }

  bool on_array_begin(error_code&) {
    check_object();
    if (in_array_)
      refuse("holds an array of arrays; only arrays of numbers are read");
    in_array_ = true;
    wholes_.clear();
    fractions_.clear();
    return true;
  }
  bool on_array_end(std::size_t, error_code&) {
    in_array_ = false;
    if (fractions_.empty())
      put(std::move(wholes_));
    else
      put(std::move(fractions_));
    return true;
  }

  bool on_key_part(string_view part, std::size_t, error_code&) {
    key_.append(part.data(), part.size());
    return true;
  }
  bool on_key(string_view part, std::size_t, error_code&) {
    key_.append(part.data(), part.size());
    if (key_.empty())
      throw error("a field has no name");
    const auto same = [&](const auto& field) { return field.first == key_; };
    if (std::any_of(fields.begin(), fields.end(), same))
      refuse("is there twice");
    return true;
  }

  bool on_string_part(string_view part, std::size_t, error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_string(string_view part, std::size_t, error_code&) {
    check_object();
    if (in_array_)
      refuse("holds an array of text; only arrays of numbers are read");
    text_.append(part.data(), part.size());
    put(std::move(text_));
    text_.clear();
    return true;
  }

  bool on_number_part(string_view, error_code&) { return true; }
  bool on_int64(std::int64_t whole, string_view, error_code&) {
    check_object();
    if (!in_array_)
      put(whole);
    else if (fractions_.empty())
      wholes_.push_back(whole);
    else
      fractions_.push_back(widened(whole));
    return true;
  }
  bool on_uint64(std::uint64_t, string_view digits, error_code&) { refuse_number(digits); }
  bool on_double(double, string_view digits, error_code&) {
    check_object();
    // Not the parser's own value, which may be off by the last bit.
    double number = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool whole = digits.find_first_of(".eE") == string_view::npos;
    if (whole || failed != std::errc{} || end != digits.data() + digits.size())
      refuse_number(digits);
    if (!in_array_) {
      put(number);
      return true;
    }
    for (const std::int64_t before : wholes_)
      fractions_.push_back(widened(before));
    wholes_.clear();
    fractions_.push_back(number);
    return true;
  }

  bool on_bool(bool value, error_code&) {
    check_object();
    if (in_array_)
      refuse("holds an array of true and false; only arrays of numbers are read");
    put(static_cast<std::uint8_t>(value));
    return true;
  }
  bool on_null(error_code&) {
    check_object();
    refuse("holds null; every line must have a value there, so leave the field out everywhere or fill it in");
  }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }

 private:
  [[noreturn]] void refuse(const std::string& why) const { throw error("field '" + key_ + "' " + why); }

  [[noreturn]] void refuse_number(string_view digits) const {
    check_object();
    const std::string shown(digits.data(), std::min<std::size_t>(digits.size(), 40));
    refuse("holds the number " + shown + (shown.size() < digits.size() ? "…" : "") +
           ", which fits neither an i64 nor an f64; write it as text");
  }

  void check_object() const {
    if (!in_object_)
      throw error(R"(not an object such as {"prompt": "2+2=", "answer": "4"})");
  }

  void put(json_value value) {
    fields.emplace_back(std::move(key_), std::move(value));
    key_.clear();
  }

  bool in_object_ = false;
  bool in_array_ = false;
  std::string key_;
  std::string text_;
  std::vector<std::int64_t> wholes_;  // of the array that is read, up to its first fraction
  std::vector<double> fractions_;     // of the whole array, once it has a fraction
};

}  // namespace

std::string_view kind_of(const json_value& value) {
  static constexpr std::array<std::string_view, std::variant_size_v<json_value>> kinds{
      "text", "a whole number", "a number with a fraction", "true or false", "an array of whole numbers",
      "an array of numbers with fractions"};
  return kinds[value.index()];
}

double widened(std::int64_t whole) {
  constexpr std::int64_t exact_max = std::int64_t{1} << 53;
  if (whole < -exact_max || whole > exact_max)
    throw error("the whole number " + std::to_string(whole) +
                " stands beside numbers with a fraction, but an f64 cannot hold it exactly; write it as text");
  return static_cast<double>(whole);
}

std::vector<double> widened(const std::vector<std::int64_t>& whole) {
  std::vector<double> numbers;
  numbers.reserve(whole.size());
  for (const std::int64_t each : whole)
    numbers.push_back(widened(each));
  return numbers;
}

json_fields parse_line(std::string_view line) {
  boost::json::basic_parser<line_handler> parser{boost::json::parse_options{}};
  error_code failed;
  const std::size_t used = parser.write_some(false, line.data(), line.size(), failed);
  if (failed)
    throw error(failed.message() + " at byte " + std::to_string(used + 1));
  if (line.find_first_not_of(" \t\r\n", used) != std::string_view::npos)
    throw error("something follows the object at byte " + std::to_string(used + 1) + "; a line holds one object");
  return std::move(parser.handler().fields);
}

}  // namespace twinkle::data
