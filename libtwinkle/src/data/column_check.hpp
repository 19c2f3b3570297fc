// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "twinkle/data/buffer.hpp"
#include "twinkle/data/key.hpp"

namespace twinkle::data {

// Whether buffers can be a column. All throw `error`, which begins with `who`: "column 'score'".

/// The bytes of one row of a dense column; they must be countable.
std::size_t row_bytes(const std::string& who, const column_type& type);

/// `rows` rows of numbers, aligned.
void check_dense(const std::string& who, const column_type& type, const buffer& values, std::size_t rows);

/// Elements, and rows + 1 offsets into them that start at 0 and never fall, both aligned.
void check_ragged(const std::string& who, const column_type& type, const buffer& values, const buffer& offsets,
                  std::size_t rows);

}  // namespace twinkle::data
