// SPDX-License-Identifier: Apache-2.0
#include "prefixed_lines.hpp"

#include <algorithm>

namespace twinkle::command {

std::string prefixed_lines::take(std::string_view bytes) {
  std::string lines;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    const std::size_t taken = std::min(end, line_bytes_max - line_.size());
    line_.append(bytes.substr(0, taken));
    const bool ended = taken == end && end < bytes.size();
    bytes.remove_prefix(taken + (ended ? 1 : 0));
    if (ended || !bytes.empty())
      lines += prefix_ + std::exchange(line_, {}) + "\n";
  }
  return lines;
}

std::string prefixed_lines::rest() { return line_.empty() ? "" : prefix_ + std::exchange(line_, {}) + "\n"; }

}  // namespace twinkle::command
