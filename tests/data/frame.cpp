// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/frame.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "for_all.hpp"
#include "twinkle/base/error.hpp"

using twinkle::bulk_range;
using twinkle::frame_header;
using twinkle::frame_header_of;
using twinkle::frame_kind;
using twinkle::frame_limits;
using twinkle::greeting;
using twinkle::greeting_of;
using twinkle::ranges_of;
using twinkle::to_bytes;
using bytes = std::vector<std::byte>;

namespace {

constexpr frame_limits few{.greeting_bytes_max = 40,
                           .ranges_max = 2,
                           .answer_bytes_max = 1000,
                           .data_bytes_max = 100,
                           .text_bytes_max = 10,
                           .head_bytes_max = 20,
                           .body_bytes_max = 30};

std::string complaint(const auto& read) {
  try {
    (void)read();
  } catch (const twinkle::error& wrong) {
    return wrong.what();
  }
  return "nothing";
}

std::string complaint(const frame_header& header) {
  return complaint([&] { return frame_header_of(to_bytes(header), few); });
}

// A header whose byte at this place is another.
std::string complaint_of_byte(std::size_t at, int value) {
  auto header = to_bytes(frame_header{});
  header[at] = static_cast<std::byte>(value);
  return complaint([&] { return frame_header_of(header); });
}

const greeting somebody{"dev", 0x1122334455667788, 3, 4};

}  // namespace

TEST_CASE("a header is read as it was written, and has the bytes it always had") {
  const frame_header header{.kind = frame_kind::data,
                            .checked = true,
                            .id = 0x0102030405060708,
                            .offset = 900,
                            .head_bytes = 0,
                            .body_bytes = 100,
                            .checksum = 0xf1f2f3f4f5f6f7f8};
  const auto written = to_bytes(header);
  CHECK(frame_header_of(written, few) == header);
  const std::vector<int> wanted{'t', 'w', 'k', 'p', 1, 4, 1, 0, 8, 7, 6, 5, 4, 3, 2, 1, 0x84, 3, 0, 0,
                                0,   0,   0,   0,   0, 0, 0, 0, 100, 0, 0, 0, 0xf8, 0xf7, 0xf6, 0xf5, 0xf4, 0xf3, 0xf2, 0xf1};
  for (std::size_t at = 0; at < wanted.size(); ++at)
    CHECK(std::to_integer<int>(written[at]) == wanted[at]);
}

TEST_CASE("what is no header of ours is refused") {
  CHECK(complaint([] { return frame_header_of({}); }) == "bulk plane: 0 bytes of a header; it has 40");
  CHECK(complaint_of_byte(0, 'x') == "bulk plane: the bytes do not begin as a frame of libtwinkle does");
  CHECK(complaint_of_byte(4, 2) == "bulk plane: the other side speaks version 2, but this program speaks version 1; "
                                   "run the same binary on every node");
  CHECK(complaint_of_byte(5, 0) == "bulk plane: there is no kind 0 of frame; 1 to 8 are known");
  CHECK(complaint_of_byte(5, 9) == "bulk plane: there is no kind 9 of frame; 1 to 8 are known");
  CHECK(complaint_of_byte(6, 2) == "bulk plane: flags 2 are not known; 1 is a checksum");
  CHECK(complaint_of_byte(8, 1) == "bulk plane: a frame of kind ping has id 1; it must have none");
  CHECK(complaint_of_byte(16, 1) == "bulk plane: a frame of kind ping has offset 1; only data may have one");
  CHECK(complaint_of_byte(39, 1) == "bulk plane: a frame of kind ping has a checksum without the flag that says so");
}

TEST_CASE("a frame has the lengths that its kind may have, and no others") {
  struct lengths {
    frame_kind kind;
    std::size_t head;
    std::size_t body;
    bool taken;
  };
  const std::vector<lengths> cases{
      {frame_kind::hello, 0, 0, false},     {frame_kind::hello, 40, 0, true},     {frame_kind::hello, 41, 0, false},
      {frame_kind::hello, 40, 1, false},    {frame_kind::welcome, 40, 0, true},   {frame_kind::welcome, 41, 0, false},
      {frame_kind::fetch, 0, 0, false},     {frame_kind::fetch, 24, 0, true},     {frame_kind::fetch, 25, 0, false},
      {frame_kind::fetch, 48, 0, true},     {frame_kind::fetch, 72, 0, false},    {frame_kind::fetch, 24, 1, false},
      {frame_kind::data, 0, 0, false},      {frame_kind::data, 0, 100, true},     {frame_kind::data, 0, 101, false},
      {frame_kind::data, 1, 100, false},    {frame_kind::refused, 0, 0, true},    {frame_kind::refused, 10, 0, true},
      {frame_kind::refused, 11, 0, false},  {frame_kind::refused, 0, 1, false},   {frame_kind::cancel, 0, 0, true},
      {frame_kind::cancel, 1, 0, false},    {frame_kind::cancel, 0, 1, false},    {frame_kind::message, 0, 0, true},
      {frame_kind::message, 20, 30, true},  {frame_kind::message, 21, 30, false}, {frame_kind::message, 20, 31, false},
      {frame_kind::ping, 0, 0, true},       {frame_kind::ping, 1, 0, false},      {frame_kind::ping, 0, 1, false}};
  for (const auto& [kind, head, body, taken] : cases) {
    CAPTURE(to_string(kind));
    CAPTURE(head);
    CAPTURE(body);
    const bool has_id = kind == frame_kind::fetch || kind == frame_kind::data || kind == frame_kind::cancel;
    CHECK((complaint(frame_header{.kind = kind, .id = has_id, .head_bytes = head, .body_bytes = body}) == "nothing") ==
          taken);
  }
  CHECK(complaint(frame_header{.kind = frame_kind::data, .id = 1, .body_bytes = 101}) ==
        "bulk plane: a frame of kind data has 101 bytes of body; it may have 1 to 100");
  CHECK(complaint(frame_header{.kind = frame_kind::cancel}) == "bulk plane: a frame of kind cancel has no id");
}

TEST_CASE("data lies in an answer of the length that is taken") {
  frame_header data{.kind = frame_kind::data, .id = 1, .offset = 900, .body_bytes = 100};
  CHECK(complaint(data) == "nothing");
  data.offset = 901;
  CHECK(complaint(data) == "bulk plane: data at offset 901; an answer has at most 1000 bytes");
  data.offset = ~std::uint64_t{0};
  CHECK(complaint(data) == "bulk plane: data at offset 18446744073709551615; an answer has at most 1000 bytes");
}

TEST_CASE("greetings are read as they were written, and no shorter or longer ones") {
  CHECK(greeting_of(to_bytes(somebody)) == somebody);
  CHECK(greeting_of(to_bytes(greeting{})) == greeting{});
  CHECK(complaint([] { return greeting_of(bytes(23)); }) == "bulk plane: a greeting of 23 bytes; it may have 24 to 1024");
  CHECK(complaint([] { return greeting_of(bytes(41), few); }) ==
        "bulk plane: a greeting of 41 bytes; it may have 24 to 40");
}

TEST_CASE("who is not who is expected differs in something that is named") {
  CHECK(mismatch(somebody, somebody) == std::nullopt);
  greeting they = somebody;
  they.incarnation = 5;
  CHECK(mismatch(somebody, they) ==
        "incarnation 0000000000000005 of node 3, where 0000000000000004 is expected");
  they.node = 2;
  CHECK(mismatch(somebody, they) == "node 2, where node 3 is expected");
  they.graph = 1;
  CHECK(mismatch(somebody, they) == "graph 0000000000000001, where 1122334455667788 is expected; run the same binary "
                                    "with the same options on every node");
  they.cluster = "prod";
  CHECK(mismatch(somebody, they) == "cluster 'prod', where 'dev' is expected");
}

TEST_CASE("ranges are read as they were written") {
  for_all([](const std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>>& drawn) {
    std::vector<bulk_range> ranges{{1, 2, 3}};
    for (const auto& [key, first, count] : drawn)
      ranges.push_back({key, first, count});
    RC_ASSERT(ranges_of(to_bytes(ranges)) == ranges);
  });
}

TEST_CASE("ranges that are none, too many, or of too much are refused") {
  CHECK(complaint([] { return ranges_of({}, few); }) == "bulk plane: 0 bytes of ranges; they are 1 to 2 of 24");
  CHECK(complaint([] { return ranges_of(bytes(25), few); }) == "bulk plane: 25 bytes of ranges; they are 1 to 2 of 24");
  CHECK(complaint([] { return ranges_of(bytes(72), few); }) == "bulk plane: 72 bytes of ranges; they are 1 to 2 of 24");
  const auto read = [](std::uint64_t one, std::uint64_t two) {
    return complaint([&] { return ranges_of(to_bytes(std::vector<bulk_range>{{1, 0, one}, {2, 0, two}}), few); });
  };
  CHECK(read(600, 400) == "nothing");
  CHECK(read(600, 401) == "bulk plane: a fetch of more than the 1000 bytes that one may have");
  CHECK(read(600, ~std::uint64_t{0}) == "bulk plane: a fetch of more than the 1000 bytes that one may have");
}

TEST_CASE("one bit that is another is another checksum") {
  bytes head(9, std::byte{1});
  bytes body(21, std::byte{2});
  const std::uint64_t right = twinkle::frame_checksum(head, body);
  CHECK(twinkle::frame_checksum(head, body) == right);
  CHECK(twinkle::frame_checksum({}, body) != twinkle::frame_checksum(body, {}));
  for (bytes* part : {&head, &body})
    for (std::byte& each : *part)
      for (int bit = 0; bit < 8; ++bit) {
        each ^= static_cast<std::byte>(1 << bit);
        CHECK(twinkle::frame_checksum(head, body) != right);
        each ^= static_cast<std::byte>(1 << bit);
      }
  body.push_back(std::byte{0});
  CHECK(twinkle::frame_checksum(head, body) != right);
}
