// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace twinkle::command {

/// What somebody prints, in whole lines with a prefix. A line of more than a MiB is cut into lines.
class prefixed_lines {
 public:
  explicit prefixed_lines(std::string prefix) : prefix_(std::move(prefix)) {}

  /// The lines that are complete with `bytes`.
  [[nodiscard]] std::string take(std::string_view bytes);

  /// The last line, if it has no end.
  [[nodiscard]] std::string rest();

  static constexpr std::size_t line_bytes_max = std::size_t{1} << 20;

 private:
  std::string prefix_;
  std::string line_;  // its begin
};

}  // namespace twinkle::command
