// SPDX-License-Identifier: Apache-2.0
// The head of a hall's letter, with as many values as it says: it is refused, or is written again as the same bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "twinkle/base/ensure.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/flow/hall_letter.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The first byte is the number of values. On the heap, without room behind it: a read beyond the end is seen.
  const std::size_t values = size == 0 ? 0 : data[0];
  std::vector<std::byte> head(size - std::min<std::size_t>(size, 1));
  if (!head.empty())
    std::memcpy(head.data(), data + 1, head.size());
  try {
    const auto letter = twinkle::letter_of(head, twinkle::buffer::of(std::vector<std::byte>(values)));
    twinkle::ensure(head_of(letter) == head, "a letter that was received is written as the same bytes");
    twinkle::ensure(letter.from < letter.meeting.members.size(), "a letter is from a member");
  } catch (const twinkle::error&) {
  }
  return 0;
}
