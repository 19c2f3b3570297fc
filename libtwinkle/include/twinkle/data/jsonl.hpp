// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "twinkle/data/batch.hpp"

namespace twinkle {

/// The rows of a JSONL text, read as `jsonl_reader` does. Throws `error` naming the line.
[[nodiscard]] batch from_jsonl(std::string_view text);

/// A line for each row; identities and tombstones are left out. Dense rows of several numbers and ragged rows are
/// arrays; u8 scalars are true and false. Read again, every number is the same, though whole numbers are i64 and
/// others f64. Throws `error` naming column and row for what JSON cannot hold: a number that is not finite, text that
/// is not utf-8; and for a u8 scalar above 1.
[[nodiscard]] std::string to_jsonl(const batch& rows);

}  // namespace twinkle
