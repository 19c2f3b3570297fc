// SPDX-License-Identifier: Apache-2.0
// A letter between nodes that can be read is written again as the same bytes.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "twinkle/base/ensure.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/place/node_letter.hpp"

namespace place = twinkle::place;
using twinkle::buffer;
using bytes = std::vector<std::byte>;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(data);
  try {
    const bytes sent = place::to_bytes(place::letter_from_bytes(buffer::of(bytes(first, first + size))));
    twinkle::ensure(place::to_bytes(place::letter_from_bytes(buffer::of(sent))) == sent,
                    "what was received and sent on arrives as it was");
  } catch (const twinkle::error&) {
  }
  return 0;
}
