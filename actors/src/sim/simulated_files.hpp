// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "twinkle/flow/seams.hpp"

namespace twinkle::sim {

/// Files in memory, which outlive whoever writes them. A writer may be killed behind any step of an operation: replacing
/// a file is to begin a new one beside it, to write all of it, and to rename it.
class simulated_files final : public files_seam {
 public:
  /// Thrown by the operation that the writer does not survive.
  struct killed {};

  void replace(const std::string& path, std::string_view content) override;
  void append(const std::string& path, std::string_view content) override;
  [[nodiscard]] std::optional<std::string> read(const std::string& path) override;
  void remove(const std::string& path) override;
  [[nodiscard]] std::vector<std::string> names(const std::string& folder) override;

  /// The writer survives so many steps from now on; unset: all.
  void kill_after(std::optional<std::size_t> steps) { left_ = steps; }
  /// All there are, by path.
  [[nodiscard]] std::map<std::string, std::string>& contents() { return contents_; }

 private:
  void step();

  std::map<std::string, std::string> contents_;
  std::optional<std::size_t> left_;
};

}  // namespace twinkle::sim
