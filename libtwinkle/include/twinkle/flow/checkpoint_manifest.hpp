// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "twinkle/flow/trained_rows.hpp"

namespace twinkle {

/// What must be the same in a run that goes on from a checkpoint.
struct run_description {
  std::string graph;
  std::uint64_t seed = 0;
  std::vector<std::string> stages = {};
  std::vector<std::pair<std::string, std::string>> options = {};  ///< name and value, as text

  /// What differs from `here`, a run that wants to go on: "--steps is 30 there and 20 here, …"; empty if nothing does.
  [[nodiscard]] std::string difference(const run_description& here) const;

  friend bool operator==(const run_description&, const run_description&) = default;
};

/// What is in a checkpoint but numbers, as text that people can read, and which files have those. The text ends with its
/// own digest.
struct checkpoint_manifest {
  struct file {
    std::string name;
    std::uint64_t bytes = 0;
    std::uint64_t digest = 0;

    friend bool operator==(const file&, const file&) = default;
  };
  struct published {
    std::size_t publication = 0;
    std::uint64_t version = 0;
    file content;

    friend bool operator==(const published&, const published&) = default;
  };

  run_description of;
  std::size_t step = 0;
  trained_rows trained = {};
  file state = {};
  std::vector<published> versions = {};

  [[nodiscard]] std::string to_text() const;
  /// Throws `error` saying what is wrong and what to do, for a text that is empty, cut short, changed, something else,
  /// or of a newer version.
  [[nodiscard]] static checkpoint_manifest of_text(std::string_view text);

  friend bool operator==(const checkpoint_manifest&, const checkpoint_manifest&) = default;
};

}  // namespace twinkle
