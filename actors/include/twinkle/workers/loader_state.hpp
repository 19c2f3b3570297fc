// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "twinkle/flow/epoch_plan.hpp"

namespace twinkle {

/// Where a loader is, and what that depends on. It may be kept anywhere; save and load keep it in a small file of text:
///
///     twinkle loader state 1
///     emitted 14
///     …
struct loader_state {
  using last_batch = epoch_plan::last_batch;

  std::uint64_t emitted = 0;  ///< rows, all epochs together; what follows them comes next
  std::size_t dataset_rows = 0;
  std::uint64_t dataset_digest = 0;  ///< of the bytes of the rows
  std::size_t rows = 0;              ///< in a batch
  last_batch last = last_batch::keep;
  bool mix_epochs = false;
  std::optional<std::uint64_t> seed = std::nullopt;

  [[nodiscard]] std::string to_text() const;
  /// Throws `error` saying what is wrong and what to do, for a text that is empty, cut short, changed, something else,
  /// or of a newer version.
  [[nodiscard]] static loader_state of_text(std::string_view text);

  /// Replaces the file; the old content stays until the new one is whole, also through a power cut.
  void save(const std::string& path) const;
  /// Throws `error` naming the file.
  [[nodiscard]] static loader_state load(const std::string& path);

  /// What differs in data and options from `other`, with both values: "rows in a batch 4 and 5, …"; empty if nothing
  /// does, wherever each of them is.
  [[nodiscard]] std::string difference(const loader_state& other) const;

  friend bool operator==(const loader_state&, const loader_state&) = default;
};

}  // namespace twinkle
