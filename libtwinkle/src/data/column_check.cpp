// SPDX-License-Identifier: Apache-2.0
#include "column_check.hpp"

#include <optional>
#include <span>

#include "tensor_bytes.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle::data {
namespace {

void check_aligned(const std::string& who, const buffer& values, std::size_t unit) {
  if (values.far() != nullptr)
    return;  // whoever brings them here aligns them
  if (reinterpret_cast<std::uintptr_t>(values.data()) % unit != 0)
    throw error(who + ": its buffer does not start at a multiple of " + std::to_string(unit) + " bytes; copy it");
}

void check_offsets(const std::string& who, const buffer& offsets, std::size_t rows, std::size_t elements) {
  if (offsets.far() != nullptr)
    throw error(who + ": its offsets lie on another node; they travel with what says what a batch is");
  const std::size_t count = offsets.bytes() / sizeof(std::uint64_t);
  if (offsets.bytes() % sizeof(std::uint64_t) != 0 || count == 0 || count - 1 != rows)
    throw error(who + ": " + std::to_string(count) + " offsets for " + std::to_string(rows) +
                " rows; there must be one more than rows");
  const auto* at = offsets.as<std::uint64_t>();
  for (std::size_t row = 0; row < rows; ++row)
    if (at[row + 1] < at[row])
      throw error(who + ": offset " + std::to_string(row + 1) + " falls from " + std::to_string(at[row]) + " to " +
                  std::to_string(at[row + 1]));
  if (at[0] != 0 || at[rows] > elements)
    throw error(who + ": offsets " + std::to_string(at[0]) + ".." + std::to_string(at[rows]) + " do not lie in the " +
                std::to_string(elements) + " elements");
}

}  // namespace

std::size_t row_bytes(const std::string& who, const column_type& type) {
  const std::optional<std::size_t> bytes =
      tensor_bytes(std::span(type.shape.sizes).first(type.shape.rank), type.type);
  if (!bytes)
    throw error(who + ": rows of " + to_string(type) + " are too large");
  return *bytes;
}

void check_dense(const std::string& who, const column_type& type, const buffer& values, std::size_t rows) {
  check_aligned(who, values, bytes_of(type.type));
  const std::size_t unit = row_bytes(who, type);
  const bool whole =
      unit == 0 ? values.bytes() == 0 : values.bytes() / unit == rows && values.bytes() % unit == 0;
  if (!whole)
    throw error(who + " (" + to_string(type) + ") has " + std::to_string(values.bytes()) + " bytes, but there are " +
                std::to_string(rows) + " rows of " + std::to_string(unit));
}

void check_ragged(const std::string& who, const column_type& type, const buffer& values, const buffer& offsets,
                  std::size_t rows) {
  check_aligned(who, values, bytes_of(type.type));
  check_aligned(who, offsets, sizeof(std::uint64_t));
  check_offsets(who, offsets, rows, values.bytes() / bytes_of(type.type));
}

}  // namespace twinkle::data
