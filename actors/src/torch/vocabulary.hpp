// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace twinkle::torch_policy {

using token_id = std::int32_t;

/// Characters <-> token ids: a pad, an end mark, and one id for each character of `characters`.
struct vocabulary {
  static constexpr token_id pad = 0;
  static constexpr token_id end = 1;
  static constexpr std::string_view characters = "0123456789s=+-*/";
  static constexpr std::size_t size = characters.size() + 2;

  /// Throws std::invalid_argument for a character that is not in `characters`; adds no end mark.
  static std::vector<token_id> encode(std::string_view text);

  /// Shows the pad as '_' and the end mark as '$', so that "02469$" and "02469" differ.
  static std::string decode(std::span<const token_id> tokens);
};

}  // namespace twinkle::torch_policy
