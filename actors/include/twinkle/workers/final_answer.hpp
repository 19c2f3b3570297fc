// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "twinkle/data/batch.hpp"

namespace twinkle {

class context;

/// A judge of texts that end with their answer: "…so she has 5 more.\n#### 1,234". It is the number behind the last
/// "####". "-1,234.50" and "$1234.5" are numbers, and so is what a full stop, %, $ or a space ends; "5/8", "1,23" and
/// "1e5" are none. Numbers are compared as numbers, exactly, however long.
///
/// It adds three columns: "final_answer", the number in its shortest form or ""; "outcome", "right", "wrong",
/// "no marker" or "no number"; and "reward", 1 for "right", else 0.
class final_answer {
 public:
  struct options {
    std::string text = "completion";  ///< the column to judge
    /// The column that has the right number, behind "####" or alone; unset: every number is right.
    std::optional<std::string> reference = "answer";
  };

  final_answer() = default;
  explicit final_answer(options how) : how_(std::move(how)) {}

  /// A row whose reference has no number cannot be judged: it is dropped and leaves a tombstone that says so; where
  /// rows have no identities, that is an `error`.
  [[nodiscard]] batch score(context&, const batch& rollouts) const { return scored(rollouts); }
  [[nodiscard]] batch scored(const batch& rollouts) const;

  /// Whether there is a marker, and the number behind the last one: no exponent, no plus, no commas, no needless zeros.
  struct found {
    bool marked = false;
    std::optional<std::string> number = std::nullopt;

    friend bool operator==(const found&, const found&) = default;
  };
  [[nodiscard]] static found in(std::string_view text);

 private:
  options how_;
};

}  // namespace twinkle
