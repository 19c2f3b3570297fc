// SPDX-License-Identifier: Apache-2.0
// What is taken as a frame of the bulk plane is written again as the same bytes, and keeps within the limits.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "twinkle/base/ensure.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/data/frame.hpp"

using twinkle::frame_header;
using twinkle::frame_kind;
using bytes = std::span<const std::byte>;

namespace {

constexpr twinkle::frame_limits limits{
    .greeting_bytes_max = 100, .ranges_max = 10, .answer_bytes_max = 5000, .data_bytes_max = 1000, .body_bytes_max = 2000};

void check_head(frame_kind kind, bytes head) {
  if (kind == frame_kind::hello || kind == frame_kind::welcome) {
    const twinkle::greeting they = greeting_of(head, limits);
    twinkle::ensure(std::ranges::equal(to_bytes(they), head), "a greeting is written as it was read");
    twinkle::ensure(!mismatch(they, they), "who is expected is expected");
  } else if (kind == frame_kind::fetch) {
    std::uint64_t all = 0;
    const auto ranges = twinkle::ranges_of(head, limits);
    for (const twinkle::bulk_range& each : ranges)
      all += each.bytes;
    twinkle::ensure(all <= limits.answer_bytes_max, "no more is asked for than may be");
    twinkle::ensure(std::ranges::equal(twinkle::to_bytes(ranges), head), "ranges are written as they were read");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bytes left(reinterpret_cast<const std::byte*>(data), size);
  try {
    while (!left.empty()) {
      const bytes first = left.first(std::min(left.size(), frame_header::bytes));
      const frame_header header = frame_header_of(first, limits);
      twinkle::ensure(std::ranges::equal(to_bytes(header), first), "a header is written as it was read");
      left = left.subspan(first.size());
      if (header.head_bytes + header.body_bytes > left.size())
        break;
      check_head(header.kind, left.first(header.head_bytes));
      (void)twinkle::frame_checksum(left.first(header.head_bytes), left.subspan(header.head_bytes, header.body_bytes));
      left = left.subspan(header.head_bytes + header.body_bytes);
    }
  } catch (const twinkle::error&) {
  }
  return 0;
}
