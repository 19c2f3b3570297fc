// SPDX-License-Identifier: Apache-2.0
#include "twinkle/base/digest.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>

namespace twinkle {

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016" PRIx64, value);
  return text.data();
}

}  // namespace twinkle
