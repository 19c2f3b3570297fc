// SPDX-License-Identifier: Apache-2.0
#include "utf8.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace twinkle::data {

bool is_utf8(std::string_view text) {
  constexpr std::array<std::uint32_t, 4> least{0, 0x80, 0x800, 0x10000};  // with that many bytes behind the first
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at++]);
    const std::size_t more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    if ((first >= 0x80 && first < 0xc0) || first >= 0xf8 || text.size() - at < more)
      return false;
    std::uint32_t point = more == 0 ? first : first & (0x3fU >> more);
    for (const std::size_t end = at + more; at < end; ++at) {
      const auto next = static_cast<unsigned char>(text[at]);
      if ((next & 0xc0U) != 0x80)
        return false;
      point = (point << 6) | (next & 0x3fU);
    }
    if (point < least[more] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
      return false;
  }
  return true;
}

}  // namespace twinkle::data
