// SPDX-License-Identifier: Apache-2.0
// What is read is written as a file that is read as the same weights.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "twinkle/base/ensure.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/data/safetensors.hpp"
#include "twinkle/data/wire.hpp"

using twinkle::buffer;
using twinkle::weights;
using bytes = std::vector<std::byte>;

namespace {

std::optional<weights> read(bytes file) {
  try {
    return twinkle::from_safetensors(buffer::of(std::move(file)));
  } catch (const twinkle::error&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(data);
  const std::optional<weights> whole = read(bytes(first, first + size));
  if (!whole)
    return 0;
  const weights again = twinkle::from_safetensors(buffer::of(twinkle::to_safetensors(*whole)));
  twinkle::ensure(to_bytes(to_wire(again)) == to_bytes(to_wire(*whole)), "a file that is written is read as the same");
  return 0;
}
