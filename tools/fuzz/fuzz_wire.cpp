// SPDX-License-Identifier: Apache-2.0
// What decodes encodes again to the same bytes, and every number of it can be read.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "twinkle/base/ensure.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/data/wire.hpp"

using twinkle::batch;
using twinkle::buffer;
using twinkle::from_bytes;
using twinkle::from_wire;
using twinkle::to_bytes;
using twinkle::to_wire;
using twinkle::wire_form;
using twinkle::wire_limits;
using bytes = std::vector<std::byte>;

namespace {

constexpr wire_limits limits{.rows_max = 1 << 12};

std::shared_ptr<const twinkle::far_bytes> own(twinkle::far_bytes where) {
  return std::make_shared<const twinkle::far_bytes>(where);
}

batch all_taken(const batch& from) {
  std::vector<std::size_t> all(from.rows());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return from.take(all);
}

template <class T>
void check(const wire_form& received) {
  const T value = from_wire<T>(received, limits);
  const bytes sent = to_bytes(to_wire(value));
  const T again = from_wire<T>(from_bytes(buffer::of(sent), limits, own), limits);
  twinkle::ensure(to_bytes(to_wire(again)) == sent, "what was received and sent on arrives as it was");
  if constexpr (std::same_as<T, batch>)
    twinkle::ensure(to_bytes(to_wire(all_taken(again))) == to_bytes(to_wire(all_taken(value))),
                    "it has the same rows, however they are read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(data);
  try {
    const wire_form received = from_bytes(buffer::of(bytes(first, first + size)), limits, own);
    switch (twinkle::contents_of({received.header.data(), received.header.bytes()}, limits).kind) {
      case twinkle::wire_kind::batch: check<batch>(received); break;
      case twinkle::wire_kind::weights: check<twinkle::weights>(received); break;
      case twinkle::wire_kind::metrics: check<twinkle::metrics>(received); break;
      case twinkle::wire_kind::message: break;  // see fuzz_message.cpp
    }
  } catch (const twinkle::error&) {
  }
  return 0;
}
