// SPDX-License-Identifier: Apache-2.0
#include "twinkle/base/time.hpp"

#include <array>
#include <cstdio>

namespace twinkle {

std::string to_string(duration time) {
  const auto count = static_cast<double>(time.count());
  std::array<char, 32> text{};
  if (time >= std::chrono::seconds(1))
    std::snprintf(text.data(), text.size(), "%.3fs", count * 1e-9);
  else if (time >= std::chrono::milliseconds(1))
    std::snprintf(text.data(), text.size(), "%.4gms", count * 1e-6);
  else if (time >= std::chrono::microseconds(1))
    std::snprintf(text.data(), text.size(), "%.4gus", count * 1e-3);
  else
    std::snprintf(text.data(), text.size(), "%.0fns", count);
  return text.data();
}

}  // namespace twinkle
