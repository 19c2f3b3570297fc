// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "twinkle/flow/seams.hpp"

namespace twinkle::runtime {

/// The machine's file system.
class real_files final : public files_seam {
 public:
  void replace(const std::string& path, std::string_view content) override;
  void append(const std::string& path, std::string_view content) override;
  [[nodiscard]] std::optional<std::string> read(const std::string& path) override;
  void remove(const std::string& path) override;
  [[nodiscard]] std::vector<std::string> names(const std::string& folder) override;
};

}  // namespace twinkle::runtime
