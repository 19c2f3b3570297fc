// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/safetensors.hpp"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <cstring>
#include <string>
#include <utility>

#include "tensor_bytes.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/base/list.hpp"
#include "utf8.hpp"

namespace twinkle {
namespace {

namespace json = boost::json;

constexpr std::size_t length_bytes = 8;
constexpr std::size_t alignment = 8;
constexpr std::size_t header_bytes_max = 100'000'000;  // as in the format's own library
constexpr std::size_t dimensions_max = 64;
constexpr std::string_view metadata_name = "__metadata__";

constexpr std::array<std::pair<std::string_view, element>, 5> types{{{"U8", element::u8},
                                                                     {"I32", element::i32},
                                                                     {"I64", element::i64},
                                                                     {"F32", element::f32},
                                                                     {"F64", element::f64}}};

[[noreturn]] void refuse(const std::string& why) { throw error("safetensors: " + why); }
// Of the start of it: headers may be hostile, messages are read by people.
std::string shown(const json::value& value) { return json::serialize(value).substr(0, 80); }

[[noreturn]] void refuse(std::string_view tensor, const std::string& why) {
  refuse("tensor '" + std::string(tensor.substr(0, 256)) + "' " + why);
}

std::string_view type_name(element type) {
  const auto found = std::find_if(types.begin(), types.end(), [&](const auto& each) { return each.second == type; });
  return found->first;
}

// A tensor and where its bytes lie behind the header.
struct entry {
  named_tensor tensor;
  interval bytes;
};

void check_tensor(const named_tensor& each) {
  const auto& [name, value] = each;
  if (!data::is_utf8(name))
    refuse("a tensor's name is not utf-8");
  if (name == metadata_name)
    refuse(name, "has a name that the format keeps for itself");
  if (value.part)
    refuse(name, "is the shard " + to_string(value.part->held) + " of " + std::to_string(value.part->whole) +
                     "; assemble the whole first");
  const std::optional<std::size_t> bytes = data::tensor_bytes(value.shape, value.type);
  if (bytes != value.values.bytes())
    refuse(name, "of shape [" + list_of_numbers(value.shape) + "] has " + std::to_string(value.values.bytes()) +
                     " bytes, which do not fit its shape");
}

// Widest numbers first, so that every tensor is aligned without gaps, which the format forbids.
std::vector<entry> laid_out(const weights& whole) {
  std::vector<entry> entries;
  for (const named_tensor& each : whole.tensors()) {
    check_tensor(each);
    entries.push_back({each, {}});
  }
  std::stable_sort(entries.begin(), entries.end(), [](const entry& a, const entry& b) {
    return bytes_of(a.tensor.value.type) > bytes_of(b.tensor.value.type);
  });
  std::size_t at = 0;
  for (entry& each : entries) {
    each.bytes = {at, at + each.tensor.value.values.bytes()};
    at = each.bytes.end;
  }
  return entries;
}

std::string header_of(const weights& whole, const std::vector<entry>& entries) {
  json::object header;
  header[metadata_name] = json::object{{"version", std::to_string(whole.version())}};
  for (const named_tensor& each : whole.tensors())
    if (!header.emplace(each.name, nullptr).second)
      refuse(each.name, "is there twice");
  for (const entry& each : entries) {
    const tensor& value = each.tensor.value;
    header[each.tensor.name] = json::object{{"dtype", json::string_view(type_name(value.type))},
                                            {"shape", json::array(value.shape.begin(), value.shape.end())},
                                            {"data_offsets", json::array{each.bytes.first, each.bytes.end}}};
  }
  std::string text = json::serialize(header);
  text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
  return text;
}

std::size_t whole_number(std::string_view tensor, const json::value& value) {
  if (value.is_uint64())
    return value.get_uint64();
  if (!value.is_int64() || value.get_int64() < 0)
    refuse(tensor, "has " + shown(value) + " where a whole number must be");
  return static_cast<std::size_t>(value.get_int64());
}

const json::value& member(std::string_view tensor, const json::value& of, std::string_view name) {
  const json::value* found = of.is_object() ? of.get_object().if_contains(name) : nullptr;
  if (found == nullptr)
    refuse(tensor, "has no " + std::string(name) + " in the header");
  return *found;
}

std::vector<std::size_t> whole_numbers(std::string_view tensor, const json::value& of, std::string_view name) {
  const json::value& values = member(tensor, of, name);
  if (!values.is_array())
    refuse(tensor, "has no array as its " + std::string(name));
  if (values.get_array().size() > dimensions_max)
    refuse(tensor, "has " + std::to_string(values.get_array().size()) + " numbers as its " + std::string(name) +
                       "; at most " + std::to_string(dimensions_max) + " are read");
  std::vector<std::size_t> numbers;
  for (const json::value& each : values.get_array())
    numbers.push_back(whole_number(tensor, each));
  return numbers;
}

element read_type(std::string_view tensor, const json::value& of) {
  const json::value& name = member(tensor, of, "dtype");
  const auto same = [&](const auto& each) { return name.is_string() && name.get_string() == each.first; };
  const auto found = std::find_if(types.begin(), types.end(), same);
  if (found == types.end())
    refuse(tensor, "has the type " + shown(name) + "; U8, I32, I64, F32 and F64 are read");
  return found->second;
}

entry read_entry(std::string_view name, const json::value& described, std::size_t bytes_there) {
  entry read;
  read.tensor.name = std::string(name);
  tensor& value = read.tensor.value;
  value.type = read_type(name, described);
  value.shape = whole_numbers(name, described, "shape");
  const std::vector<std::size_t> ends = whole_numbers(name, described, "data_offsets");
  if (ends.size() != 2 || ends[0] > ends[1] || ends[1] > bytes_there)
    refuse(name, "has the data_offsets [" + list_of_numbers(ends) + "], which do not lie in the " +
                     std::to_string(bytes_there) + " bytes behind the header");
  read.bytes = {ends[0], ends[1]};
  if (data::tensor_bytes(value.shape, value.type) != read.bytes.size())
    refuse(name, "of shape [" + list_of_numbers(value.shape) + "] and type " + std::string(type_name(value.type)) +
                     " has " + std::to_string(read.bytes.size()) + " bytes, which do not fit its shape");
  return read;
}

std::uint64_t read_version(const json::value& metadata) {
  const json::value* found = metadata.is_object() ? metadata.get_object().if_contains("version") : nullptr;
  if (found == nullptr)
    return 0;
  std::uint64_t version = 0;
  const std::string_view text = found->is_string() ? std::string_view(found->get_string()) : "";
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (text.empty() || failed != std::errc{} || end != text.data() + text.size())
    refuse("the metadata has the version " + shown(*found) + ", which is not a whole number in quotes");
  return version;
}

std::string_view header_text(const buffer& file) {
  if (file.bytes() < length_bytes)
    refuse("it has " + std::to_string(file.bytes()) + " bytes; it must have 8 or more, so it is cut off");
  std::uint64_t length = 0;
  for (std::size_t at = length_bytes; at-- > 0;)
    length = (length << 8) | std::to_integer<std::uint64_t>(file.data()[at]);
  const std::size_t there = file.bytes() - length_bytes;
  if (length > there || length > header_bytes_max)
    refuse("its header claims " + std::to_string(length) + " bytes, but " + std::to_string(there) +
           " follow, and at most " + std::to_string(header_bytes_max) + " are read; it is cut off or no such file");
  return {file.as<char>() + length_bytes, length};
}

// Every byte behind the header belongs to one tensor.
void check_cover(const std::vector<entry>& entries, std::size_t bytes_there) {
  std::vector<const entry*> sorted;
  for (const entry& each : entries)
    sorted.push_back(&each);
  std::sort(sorted.begin(), sorted.end(), [](const entry* a, const entry* b) {
    return std::pair(a->bytes.first, a->bytes.end) < std::pair(b->bytes.first, b->bytes.end);
  });
  std::size_t at = 0;
  for (const entry* each : sorted) {
    if (each->bytes.first != at)
      refuse(each->tensor.name, "lies at bytes " + to_string(each->bytes) + ", but the one before it ends at " +
                                    std::to_string(at) + "; tensors may not overlap nor leave gaps");
    at = each->bytes.end;
  }
  if (at != bytes_there)
    refuse("its tensors end at byte " + std::to_string(at) + " of " + std::to_string(bytes_there) +
           " behind the header; there must be nothing else");
}

buffer borrowed(const std::shared_ptr<const buffer>& file, const std::byte* first, std::size_t bytes, element type) {
  if (reinterpret_cast<std::uintptr_t>(first) % bytes_of(type) == 0)
    return {first, bytes, file};
  return buffer::of(std::vector<std::byte>(first, first + bytes));
}

}  // namespace

std::vector<std::byte> to_safetensors(const weights& whole) {
  const std::vector<entry> entries = laid_out(whole);
  const std::string header = header_of(whole, entries);
  const std::size_t data_bytes = entries.empty() ? 0 : entries.back().bytes.end;
  std::vector<std::byte> file;
  file.reserve(length_bytes + header.size() + data_bytes);
  for (std::size_t at = 0; at < length_bytes; ++at)
    file.push_back(static_cast<std::byte>(header.size() >> (8 * at) & 0xff));
  const auto* text = reinterpret_cast<const std::byte*>(header.data());
  file.insert(file.end(), text, text + header.size());
  for (const entry& each : entries) {
    const buffer& values = each.tensor.value.values;
    file.insert(file.end(), values.data(), values.data() + values.bytes());
  }
  return file;
}

weights from_safetensors(buffer file) {
  const std::string_view text = header_text(file);
  const std::byte* data = file.data() + length_bytes + text.size();
  const std::size_t bytes_there = file.bytes() - length_bytes - text.size();
  json::error_code failed;
  const json::value header = json::parse(text, failed);
  if (failed || !header.is_object())
    refuse("its header is no JSON object" + (failed ? ": " + failed.message() : ""));
  std::uint64_t version = 0;
  std::vector<entry> entries;
  for (const auto& [name, value] : header.get_object()) {
    if (name == metadata_name)
      version = read_version(value);
    else
      entries.push_back(read_entry(name, value, bytes_there));
  }
  check_cover(entries, bytes_there);
  const auto owner = std::make_shared<const buffer>(std::move(file));
  std::vector<named_tensor> tensors;
  for (entry& each : entries) {
    tensor& value = each.tensor.value;
    value.values = borrowed(owner, data + each.bytes.first, each.bytes.size(), value.type);
    tensors.push_back(std::move(each.tensor));
  }
  return weights{std::move(tensors), version};
}

}  // namespace twinkle
