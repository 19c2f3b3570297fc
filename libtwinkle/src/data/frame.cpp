// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/frame.hpp"

#include <concepts>
#include <cstring>

#include "twinkle/base/digest.hpp"
#include "twinkle/base/ensure.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle {
namespace {

constexpr std::uint32_t magic = 0x706b7774;  // "twkp"
constexpr std::uint16_t checked_flag = 1;
constexpr std::size_t range_bytes = 3 * sizeof(std::uint64_t);

[[noreturn]] void refuse(const std::string& why) { throw error("bulk plane: " + why); }

template <std::unsigned_integral T>
std::byte* put(std::byte* at, T value) {
  for (std::size_t byte = 0; byte < sizeof(T); ++byte)
    *at++ = static_cast<std::byte>(value >> (8 * byte) & 0xff);
  return at;
}

template <std::unsigned_integral T>
T take(std::span<const std::byte>& from) {
  T value = 0;
  for (std::size_t byte = 0; byte < sizeof(T); ++byte)
    value = static_cast<T>(value | std::to_integer<std::uint64_t>(from[byte]) << (8 * byte));
  from = from.subspan(sizeof(T));
  return value;
}

// What each kind may have.
struct shape {
  std::size_t head_least = 0;
  std::size_t head_most = 0;
  std::size_t body_least = 0;
  std::size_t body_most = 0;
  bool has_id = false;
};

shape shape_of(frame_kind kind, const frame_limits& limits) {
  switch (kind) {
    case frame_kind::hello:
    case frame_kind::welcome: return {1, limits.greeting_bytes_max, 0, 0, false};
    case frame_kind::fetch: return {range_bytes, limits.ranges_max * range_bytes, 0, 0, true};
    case frame_kind::data: return {0, 0, 1, limits.data_bytes_max, true};
    case frame_kind::refused: return {0, limits.text_bytes_max, 0, 0, true};
    case frame_kind::cancel: return {0, 0, 0, 0, true};
    case frame_kind::message: return {0, limits.head_bytes_max, 0, limits.body_bytes_max, false};
    case frame_kind::ping: return {};
  }
  refuse("there is no kind " + std::to_string(static_cast<int>(kind)) + " of frame; 1 to 8 are known");
}

void check_bytes(frame_kind kind, std::string_view part, std::size_t there, std::size_t least, std::size_t most) {
  if (there < least || there > most)
    refuse("a frame of kind " + std::string(to_string(kind)) + " has " + std::to_string(there) + " bytes of " +
           std::string(part) + "; it may have " + std::to_string(least) + " to " + std::to_string(most));
}

void check(const frame_header& header, const frame_limits& limits) {
  const shape may = shape_of(header.kind, limits);
  check_bytes(header.kind, "head", header.head_bytes, may.head_least, may.head_most);
  check_bytes(header.kind, "body", header.body_bytes, may.body_least, may.body_most);
  const std::string name(to_string(header.kind));
  if (!may.has_id && header.id != 0)
    refuse("a frame of kind " + name + " has id " + std::to_string(header.id) + "; it must have none");
  if (may.has_id && header.id == 0 && header.kind != frame_kind::refused)
    refuse("a frame of kind " + name + " has no id");
  if (header.kind != frame_kind::data && header.offset != 0)
    refuse("a frame of kind " + name + " has offset " + std::to_string(header.offset) + "; only data may have one");
  if (header.kind == frame_kind::data && (header.offset > limits.answer_bytes_max ||
                                          header.body_bytes > limits.answer_bytes_max - header.offset))
    refuse("data at offset " + std::to_string(header.offset) + "; an answer has at most " +
           std::to_string(limits.answer_bytes_max) + " bytes");
  if (header.kind == frame_kind::fetch && header.head_bytes % range_bytes != 0)
    refuse(std::to_string(header.head_bytes) + " bytes of ranges are no multiple of " + std::to_string(range_bytes));
  if (!header.checked && header.checksum != 0)
    refuse("a frame of kind " + name + " has a checksum without the flag that says so");
}

}  // namespace

std::string_view to_string(frame_kind kind) {
  switch (kind) {
    case frame_kind::hello: return "hello";
    case frame_kind::welcome: return "welcome";
    case frame_kind::fetch: return "fetch";
    case frame_kind::data: return "data";
    case frame_kind::refused: return "refused";
    case frame_kind::cancel: return "cancel";
    case frame_kind::message: return "message";
    case frame_kind::ping: return "ping";
  }
  return "unknown";
}

std::array<std::byte, frame_header::bytes> to_bytes(const frame_header& of) {
  std::array<std::byte, frame_header::bytes> bytes{};
  std::byte* at = put(bytes.data(), magic);
  at = put(at, frame_header::version);
  at = put(at, static_cast<std::uint8_t>(of.kind));
  at = put(at, of.checked ? checked_flag : std::uint16_t{0});
  at = put(at, of.id);
  at = put(at, of.offset);
  at = put(at, static_cast<std::uint32_t>(of.head_bytes));
  at = put(at, static_cast<std::uint32_t>(of.body_bytes));
  at = put(at, of.checksum);
  ensure(at == bytes.data() + bytes.size(), "a header of a frame has the bytes that are promised");
  return bytes;
}

bool is_frame(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof(magic) && take<std::uint32_t>(bytes) == magic;
}

frame_header frame_header_of(std::span<const std::byte> bytes, const frame_limits& limits) {
  if (bytes.size() != frame_header::bytes)
    refuse(std::to_string(bytes.size()) + " bytes of a header; it has " + std::to_string(frame_header::bytes));
  if (take<std::uint32_t>(bytes) != magic)
    refuse("the bytes do not begin as a frame of libtwinkle does");
  if (const auto version = take<std::uint8_t>(bytes); version != frame_header::version)
    refuse("the other side speaks version " + std::to_string(version) + ", but this program speaks version " +
           std::to_string(frame_header::version) + "; run the same binary on every node");
  frame_header header;
  header.kind = static_cast<frame_kind>(take<std::uint8_t>(bytes));
  const auto flags = take<std::uint16_t>(bytes);
  if ((flags & ~checked_flag) != 0)
    refuse("flags " + std::to_string(flags) + " are not known; 1 is a checksum");
  header.checked = flags == checked_flag;
  header.id = take<std::uint64_t>(bytes);
  header.offset = take<std::uint64_t>(bytes);
  header.head_bytes = take<std::uint32_t>(bytes);
  header.body_bytes = take<std::uint32_t>(bytes);
  header.checksum = take<std::uint64_t>(bytes);
  check(header, limits);
  return header;
}

std::vector<std::byte> to_bytes(const greeting& of) {
  constexpr std::size_t numbers = 3 * sizeof(std::uint64_t);
  std::vector<std::byte> bytes(numbers + of.cluster.size());
  std::byte* at = put(bytes.data(), of.graph);
  at = put(at, of.node);
  at = put(at, of.incarnation);
  if (!of.cluster.empty())
    std::memcpy(at, of.cluster.data(), of.cluster.size());
  return bytes;
}

greeting greeting_of(std::span<const std::byte> head, const frame_limits& limits) {
  constexpr std::size_t numbers = 3 * sizeof(std::uint64_t);
  if (head.size() < numbers || head.size() > limits.greeting_bytes_max)
    refuse("a greeting of " + std::to_string(head.size()) + " bytes; it may have " + std::to_string(numbers) + " to " +
           std::to_string(limits.greeting_bytes_max));
  greeting they;
  they.graph = take<std::uint64_t>(head);
  they.node = take<std::uint64_t>(head);
  they.incarnation = take<std::uint64_t>(head);
  they.cluster.assign(reinterpret_cast<const char*>(head.data()), head.size());
  return they;
}

std::vector<std::byte> to_bytes(std::span<const bulk_range> ranges) {
  std::vector<std::byte> bytes(ranges.size() * range_bytes);
  std::byte* at = bytes.data();
  for (const bulk_range& each : ranges)
    at = put(put(put(at, each.key), each.first), each.bytes);
  return bytes;
}

std::vector<bulk_range> ranges_of(std::span<const std::byte> head, const frame_limits& limits) {
  if (head.empty() || head.size() % range_bytes != 0 || head.size() / range_bytes > limits.ranges_max)
    refuse(std::to_string(head.size()) + " bytes of ranges; they are 1 to " + std::to_string(limits.ranges_max) +
           " of " + std::to_string(range_bytes));
  std::vector<bulk_range> ranges(head.size() / range_bytes);
  std::uint64_t left = limits.answer_bytes_max;
  for (bulk_range& each : ranges) {
    each.key = take<std::uint64_t>(head);
    each.first = take<std::uint64_t>(head);
    each.bytes = take<std::uint64_t>(head);
    if (each.bytes > left)
      refuse("a fetch of more than the " + std::to_string(limits.answer_bytes_max) + " bytes that one may have");
    left -= each.bytes;
  }
  return ranges;
}

std::optional<std::string> mismatch(const greeting& expected, const greeting& they) {
  if (they.cluster != expected.cluster)
    return "cluster '" + they.cluster + "', where '" + expected.cluster + "' is expected";
  if (they.graph != expected.graph)
    return "graph " + hexadecimal(they.graph) + ", where " + hexadecimal(expected.graph) +
           " is expected; run the same binary with the same options on every node";
  if (they.node != expected.node)
    return "node " + std::to_string(they.node) + ", where node " + std::to_string(expected.node) + " is expected";
  if (they.incarnation != expected.incarnation)
    return "incarnation " + hexadecimal(they.incarnation) + " of node " + std::to_string(they.node) + ", where " +
           hexadecimal(expected.incarnation) + " is expected";
  return std::nullopt;
}

std::uint64_t frame_checksum(std::span<const std::byte> head, std::span<const std::byte> body) {
  digest sum;
  for (std::span<const std::byte> part : {head, body}) {
    sum.add(part.size());
    while (!part.empty()) {
      std::uint64_t word = 0;
      const std::size_t bytes = part.size() < sizeof(word) ? part.size() : sizeof(word);
      std::memcpy(&word, part.data(), bytes);
      sum.add(word);
      part = part.subspan(bytes);
    }
  }
  return sum.value();
}

}  // namespace twinkle
