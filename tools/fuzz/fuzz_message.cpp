// SPDX-License-Identifier: Apache-2.0
// A message that decodes encodes again to the same bytes, and every row of it can be read.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "twinkle/base/ensure.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/flow/message_wire.hpp"
#include "wire_endpoints.hpp"

using twinkle::buffer;
using twinkle::from_bytes;
using twinkle::message;
using twinkle::message_from_wire;
using twinkle::to_bytes;
using twinkle::to_wire;
using bytes = std::vector<std::byte>;

namespace {

constexpr twinkle::wire_limits limits{.rows_max = 1 << 12, .value_bytes_max = 1 << 24};

const auto endpoints = fuzz::endpoints();

message read(bytes sent) {
  return message_from_wire(from_bytes(buffer::of(std::move(sent)), limits), endpoints, limits);
}

void read_all(const twinkle::batch& from) {
  std::vector<std::size_t> all(from.rows());
  std::iota(all.begin(), all.end(), std::size_t{0});
  (void)from.take(all);
}

void read_all(const message& from) {
  if (const auto* task = std::get_if<twinkle::msg::task>(&from))
    if (const twinkle::batch* rows = rows_in(task->input))
      read_all(*rows);
  if (const auto* emitted = std::get_if<twinkle::msg::emitted>(&from))
    read_all(emitted->rows);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(data);
  try {
    const message content = read({first, first + size});
    read_all(content);
    const bytes sent = to_bytes(to_wire(content, endpoints));
    twinkle::ensure(to_bytes(to_wire(read(sent), endpoints)) == sent, "what was received and sent on arrives as it was");
  } catch (const twinkle::error&) {
  }
  return 0;
}
