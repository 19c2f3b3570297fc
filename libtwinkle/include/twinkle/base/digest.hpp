// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace twinkle {

/// The finaliser of splitmix64: spreads every bit of `value` over the whole word.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

/// A 64-bit hash of a sequence of numbers, the same on every machine. Not for secrets.
class digest {
 public:
  constexpr digest& add(std::uint64_t value) {
    state_ = mix(state_ + 0x9e3779b97f4a7c15ULL + value) ^ (value * 0xff51afd7ed558ccdULL);
    return *this;
  }
  constexpr digest& add(std::string_view text) {
    add(text.size());
    for (const char c : text)
      add(static_cast<unsigned char>(c));
    return *this;
  }
  [[nodiscard]] constexpr std::uint64_t value() const { return mix(state_); }

 private:
  std::uint64_t state_ = 0x6a09e667f3bcc908ULL;
};

/// Sixteen hexadecimal digits.
[[nodiscard]] std::string hexadecimal(std::uint64_t value);

}  // namespace twinkle
