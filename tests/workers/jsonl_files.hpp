// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "twinkle/workers/jsonl_loader.hpp"

/// Files for the tests of what reads them.
namespace jsonl_test {

using numbers = std::vector<std::int64_t>;

inline constexpr twinkle::column<std::int64_t> n{"n"};

/// A file that is gone when the test ends.
class written_file {
 public:
  explicit written_file(const std::string& text) {
    static int made = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("twinkle-" + std::to_string(getpid()) + "-" + std::to_string(made++) + ".jsonl");
    write(text);
  }
  ~written_file() { std::filesystem::remove(path_); }
  written_file(const written_file&) = delete;
  written_file& operator=(const written_file&) = delete;

  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path_, std::ios::binary).rdbuf();
    return all.str();
  }

 private:
  std::filesystem::path path_;
};

/// {"n": 0}, {"n": 1}, …
inline std::string lines(std::size_t count) {
  std::string text;
  for (std::size_t row = 0; row < count; ++row)
    text += "{\"n\": " + std::to_string(row) + "}\n";
  return text;
}

inline numbers numbers_of(const twinkle::batch& rows) {
  const auto values = rows[n].values();
  return {values.begin(), values.end()};
}

/// The batches that are left, or the next few of them.
inline std::vector<numbers> read(twinkle::jsonl_loader& loader, std::size_t batches_max = 100) {
  std::vector<numbers> batches;
  while (batches.size() < batches_max) {
    const std::optional<twinkle::batch> next = loader.next_rows();
    if (!next)
      break;
    batches.push_back(numbers_of(*next));
  }
  return batches;
}

}  // namespace jsonl_test
