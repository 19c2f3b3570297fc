// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/checkpoint_manifest.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <limits>
#include <map>

#include "twinkle/base/digest.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/base/list.hpp"

namespace twinkle {
namespace {

namespace json = boost::json;

constexpr std::string_view format = "twinkle checkpoint";
constexpr std::uint64_t newest = 1;
constexpr std::string_view seal_mark = R"("digest": ")";

[[noreturn]] void refuse(const std::string& why) {
  throw error(why + "; resume from another folder, or begin the run anew");
}

std::string sealed(std::string_view body) {
  return std::string(seal_mark) + hexadecimal(digest{}.add(body).value()) + "\"}\n";
}

json::array list_of(const identity& row) {
  json::array numbers{row.source, row.sequence};
  for (std::uint32_t at = 0; at < row.depth; ++at)
    numbers.push_back(json::array{row.path[at].index, row.path[at].count});
  return numbers;
}

json::object in_json(const checkpoint_manifest::file& of) {
  return {{"name", of.name}, {"bytes", of.bytes}, {"digest", hexadecimal(of.digest)}};
}

// What a manifest must have, by name.
class reader {
 public:
  explicit reader(const json::value& of) : of_(of) {}

  [[nodiscard]] const json::value& at(std::string_view name) const {
    const json::value* found = of_.is_object() ? of_.get_object().if_contains(name) : nullptr;
    if (found == nullptr)
      refuse("has no '" + std::string(name) + "'");
    return *found;
  }
  [[nodiscard]] std::string text(std::string_view name) const {
    const json::value& found = at(name);
    if (!found.is_string())
      refuse("has a '" + std::string(name) + "' that is no text");
    return std::string(found.get_string());
  }
  [[nodiscard]] std::uint64_t number(std::string_view name) const { return number_in(at(name), name); }
  [[nodiscard]] const json::array& items(std::string_view name) const { return items_in(at(name), name); }
  [[nodiscard]] std::uint64_t hexadecimal_number(std::string_view name) const {
    const std::string digits = text(name);
    std::uint64_t value = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.empty() || failed != std::errc{} || end != digits.data() + digits.size())
      refuse("has a '" + std::string(name) + "' that is no digest");
    return value;
  }

  [[nodiscard]] static std::uint64_t number_in(const json::value& found, std::string_view name) {
    if (found.is_uint64())
      return found.get_uint64();
    if (!found.is_int64() || found.get_int64() < 0)
      refuse("has a '" + std::string(name) + "' that is no whole number");
    return static_cast<std::uint64_t>(found.get_int64());
  }
  [[nodiscard]] static std::uint32_t small_number_in(const json::value& found, std::string_view name) {
    const std::uint64_t value = number_in(found, name);
    if (value > std::numeric_limits<std::uint32_t>::max())
      refuse("has " + std::to_string(value) + " in '" + std::string(name) + "', which is too large");
    return static_cast<std::uint32_t>(value);
  }
  [[nodiscard]] static const json::array& items_in(const json::value& found, std::string_view name) {
    if (!found.is_array())
      refuse("has a '" + std::string(name) + "' that is no list");
    return found.get_array();
  }

 private:
  const json::value& of_;
};

checkpoint_manifest::file read_file(const json::value& of) {
  const reader from(of);
  checkpoint_manifest::file found{from.text("name"), from.number("bytes"), from.hexadecimal_number("digest")};
  if (found.name.empty() || found.name.find('/') != std::string::npos || found.name.front() == '.')
    refuse("names the file '" + found.name.substr(0, 80) + "', which is not one beside it");
  return found;
}

identity read_identity(const json::value& of) {
  const json::array& numbers = reader::items_in(of, "in_part");
  if (numbers.size() < 3 || numbers.size() > 2 + identity::depth_max)
    refuse("has a row in 'in_part' that is no child of another");
  identity row{reader::small_number_in(numbers[0], "in_part"), 0, reader::number_in(numbers[1], "in_part"), {}};
  for (std::size_t at = 2; at < numbers.size(); ++at) {
    const json::array& which = reader::items_in(numbers[at], "in_part");
    if (which.size() != 2)
      refuse("has a child in 'in_part' that is not two numbers");
    const auto index = reader::small_number_in(which[0], "in_part");
    const auto count = reader::small_number_in(which[1], "in_part");
    if (index >= count)
      refuse("has child " + std::to_string(index) + " of " + std::to_string(count) + " in 'in_part'");
    row = child_of(row, index, count);
  }
  return row;
}

trained_rows read_trained(const json::value& of) {
  const reader from(of);
  trained_rows found;
  for (const json::value& each : from.items("whole")) {
    const reader of_source(each);
    const auto source = reader::small_number_in(of_source.at("source"), "source");
    if (found.whole().contains(source))
      refuse("has the rows of source " + std::to_string(source) + " twice");
    std::uint64_t behind = 0;
    for (const json::value& run : of_source.items("rows")) {
      const json::array& ends = reader::items_in(run, "rows");
      if (ends.size() != 2)
        refuse("has a run of rows that is not two numbers");
      const trained_rows::run rows{reader::number_in(ends[0], "rows"), reader::number_in(ends[1], "rows")};
      if (rows.first < behind || rows.end <= rows.first)
        refuse("has the rows [" + std::to_string(rows.first) + "," + std::to_string(rows.end) +
               "), which are empty or not behind those before them");
      behind = rows.end;
      found.add_run(source, rows);
    }
  }
  for (const json::value& each : from.items("in_part"))
    found.add(read_identity(each));
  return found;
}

run_description read_run(const json::value& of) {
  const reader from(of);
  run_description found{from.text("graph"), from.number("seed")};
  for (const json::value& each : from.items("stages")) {
    if (!each.is_string())
      refuse("has a stage without a name");
    found.stages.emplace_back(each.get_string());
  }
  const json::value& options = from.at("options");
  if (!options.is_object())
    refuse("has 'options' that are no object");
  for (const auto& [name, value] : options.get_object()) {
    if (!value.is_string())
      refuse("has an option '" + std::string(name) + "' that is no text");
    found.options.emplace_back(name, value.get_string());
  }
  return found;
}

json::object in_json(const run_description& of) {
  json::object options;
  for (const auto& [name, value] : of.options)
    options[name] = value;
  return {{"graph", of.graph},
          {"seed", of.seed},
          {"stages", json::array(of.stages.begin(), of.stages.end())},
          {"options", std::move(options)}};
}

json::object in_json(const trained_rows& of) {
  json::array whole;
  for (const auto& [source, runs] : of.whole()) {
    json::array rows;
    for (const trained_rows::run& each : runs)
      rows.push_back(json::array{each.first, each.end});
    whole.push_back(json::object{{"source", source}, {"rows", std::move(rows)}});
  }
  json::array in_part;
  for (const identity& each : of.in_part())
    in_part.push_back(list_of(each));
  return {{"whole", std::move(whole)}, {"in_part", std::move(in_part)}};
}

}  // namespace

std::string run_description::difference(const run_description& here) const {
  std::vector<std::string> found;
  const auto differs = [&](const std::string& what, const std::string& mine, const std::string& theirs) {
    if (mine != theirs)
      found.push_back(what + " is " + mine + " there and " + theirs + " here");
  };
  differs("the graph", "'" + graph + "'", "'" + here.graph + "'");
  differs("the list of stages", "'" + list(stages) + "'", "'" + list(here.stages) + "'");
  differs("--seed", std::to_string(seed), std::to_string(here.seed));
  std::map<std::string, std::pair<std::string, std::string>> values;
  for (const auto& [name, value] : options)
    values.try_emplace(name, "unknown", "unknown").first->second.first = "'" + value + "'";
  for (const auto& [name, value] : here.options)
    values.try_emplace(name, "unknown", "unknown").first->second.second = "'" + value + "'";
  for (const auto& [name, both] : values)
    differs("--" + name, both.first, both.second);
  return list(found);
}

std::string checkpoint_manifest::to_text() const {
  json::array published;
  for (const auto& each : versions)
    published.push_back(json::object{
        {"publication", each.publication}, {"version", each.version}, {"file", in_json(each.content)}});
  std::string text = "{";
  const auto line = [&](std::string_view name, const json::value& value) {
    text += "\"" + std::string(name) + "\": " + json::serialize(value) + ",\n ";
  };
  line("format", json::string(format));
  line("format_version", newest);
  line("run", in_json(of));
  line("step", step);
  line("trained", in_json(trained));
  line("state", in_json(state));
  line("versions", published);
  return text + sealed(text);
}

checkpoint_manifest checkpoint_manifest::of_text(std::string_view text) {
  if (text.empty())
    refuse("is empty");
  if (!text.starts_with(R"({"format": ")" + std::string(format) + "\""))
    refuse("is no manifest of a checkpoint: it does not start with the format '" + std::string(format) + "'");
  json::error_code failed;
  const json::value whole = json::parse(text, failed);
  const std::size_t seal = text.rfind(seal_mark);
  if (failed || seal == std::string_view::npos)
    refuse("is cut short or was changed: it is no whole JSON object");
  const reader from(whole);
  if (const std::uint64_t version = from.number("format_version"); version > newest)
    refuse("is of version " + std::to_string(version) + ", but this program reads versions up to " +
           std::to_string(newest));
  if (text.substr(seal) != sealed(text.substr(0, seal)))
    refuse("was changed: its last line is not the digest of those before it");
  checkpoint_manifest found;
  found.of = read_run(from.at("run"));
  found.step = from.number("step");
  found.trained = read_trained(from.at("trained"));
  found.state = read_file(from.at("state"));
  for (const json::value& each : from.items("versions")) {
    const reader version(each);
    found.versions.push_back({version.number("publication"), version.number("version"), read_file(version.at("file"))});
  }
  return found;
}

}  // namespace twinkle
