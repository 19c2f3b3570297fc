// SPDX-License-Identifier: Apache-2.0
// A manifest of a checkpoint, under a digest that is right: it is refused, or can be written and read again.
#include <cstddef>
#include <cstdint>
#include <string>

#include "twinkle/base/digest.hpp"
#include "twinkle/base/ensure.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/flow/checkpoint_manifest.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  text += "\"digest\": \"" + twinkle::hexadecimal(twinkle::digest{}.add(text).value()) + "\"}\n";
  twinkle::checkpoint_manifest read;
  try {
    read = twinkle::checkpoint_manifest::of_text(text);
  } catch (const twinkle::error&) {
    return 0;
  }
  const auto again = twinkle::checkpoint_manifest::of_text(read.to_text());
  twinkle::ensure(again.of == read.of && again.step == read.step && again.versions == read.versions,
                  "a manifest that is written is read as the same");
  return 0;
}
