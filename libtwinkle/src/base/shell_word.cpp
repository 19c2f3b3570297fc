// SPDX-License-Identifier: Apache-2.0
#include "twinkle/base/shell_word.hpp"

#include <algorithm>
#include <string_view>

namespace twinkle {

std::string shell_word(const std::string& text) {
  const auto harmless = [](char each) {
    return (each >= '0' && each <= '9') || (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
           std::string_view("._/-+:,=").find(each) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), harmless))
    return text;
  std::string inside;
  for (const char each : text)
    inside += each == '\'' ? std::string("'\\''") : std::string(1, each);
  return "'" + inside + "'";
}

}  // namespace twinkle
