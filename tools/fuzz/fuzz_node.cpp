// SPDX-License-Identifier: Apache-2.0
// A letter between nodes that can be read is written again as the same bytes.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "twinkle/base/ensure.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/place/node_letter.hpp"

using twinkle::buffer;
using bytes = std::vector<std::byte>;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(data);
  try {
    const twinkle::place::node_letter read = twinkle::place::letter_from_bytes(buffer::of(bytes(first, first + size)));
    const bytes sent = to_bytes(read);
    twinkle::ensure(to_bytes(twinkle::place::letter_from_bytes(buffer::of(sent))) == sent,
                    "what was received and sent on arrives as it was");
  } catch (const twinkle::error&) {
  }
  return 0;
}
