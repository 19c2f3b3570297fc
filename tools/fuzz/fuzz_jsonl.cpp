// SPDX-License-Identifier: Apache-2.0
// What is read is written as lines that are read as the same rows.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "twinkle/base/ensure.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/data/jsonl.hpp"
#include "twinkle/data/wire.hpp"

using twinkle::batch;

namespace {

std::optional<batch> read(std::string_view text) {
  try {
    return twinkle::from_jsonl(text);
  } catch (const twinkle::error&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // On the heap, without room behind it: a read beyond the end is seen.
  const std::vector<char> text(data, data + size);
  const std::optional<batch> rows = read({text.data(), text.size()});
  if (!rows)
    return 0;
  const std::string lines = twinkle::to_jsonl(*rows);  // must not throw: what was read can be written
  const batch again = twinkle::from_jsonl(lines);
  twinkle::ensure(to_bytes(to_wire(again)) == to_bytes(to_wire(*rows)), "written lines are read as the same rows");
  return 0;
}
