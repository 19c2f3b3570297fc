// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "twinkle/data/wire.hpp"

namespace twinkle::data {

// Pieces are sent as they lie in memory; only what is in headers is put in order byte by byte.
static_assert(std::endian::native == std::endian::little, "the wire form needs a machine of little-endian numbers");

/// What does not fit is the sender's fault, or an attack: the message says what is wrong with the bytes.
[[noreturn]] void refuse_wire(const std::string& why);

/// The same at a multiple of 8 bytes, copied if it is not there already.
[[nodiscard]] buffer aligned(buffer bytes);

/// Writes a header: numbers in little-endian order, text behind its length.
class wire_writer {
 public:
  /// Without a prologue: for what is no value by itself.
  wire_writer() = default;
  wire_writer(wire_kind kind, std::span<const buffer> pieces);

  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }

  template <std::unsigned_integral T>
  void number(T value) {
    std::array<std::byte, sizeof(T)> little{};
    for (std::size_t at = 0; at < sizeof(T); ++at)
      little[at] = static_cast<std::byte>(value >> (8 * at) & 0xff);
    bytes_.insert(bytes_.end(), little.begin(), little.end());
  }
  /// The number of things that follow.
  void count(std::size_t things);
  void raw(std::string_view text);
  /// As they are, without a length.
  void bytes(std::span<const std::byte> those);
  /// Throws `error` for a name that is not utf-8, which `from_wire` would refuse.
  void name(std::string_view text);

  [[nodiscard]] std::vector<std::byte> all() && { return std::move(bytes_); }
  [[nodiscard]] buffer written() && { return buffer::of(std::move(bytes_)); }

 private:
  std::vector<std::byte> bytes_;
};

/// A wire form inside of another: its header behind its length, its pieces behind those that are there.
void nest(wire_writer& out, std::vector<buffer>& pieces, wire_form inner);

/// Reads what `wire_writer` wrote, and throws `error` where the bytes end too soon.
class wire_reader {
 public:
  explicit wire_reader(std::span<const std::byte> header) : left_(header) {}

  template <std::unsigned_integral T>
  [[nodiscard]] T number() {
    T value = 0;
    for (const std::byte each : take(sizeof(T)))
      value = static_cast<T>(value >> 8 | std::to_integer<std::uint64_t>(each) << (8 * (sizeof(T) - 1)));
    return value;
  }
  /// 0 or 1.
  [[nodiscard]] bool flag();
  /// How many things follow, each of `bytes_least` or more; no more than can be there.
  [[nodiscard]] std::size_t count(std::size_t bytes_least);
  [[nodiscard]] std::string raw();
  /// The next so many, where they lie.
  [[nodiscard]] std::span<const std::byte> take(std::size_t bytes);
  /// In utf-8, and within the limit.
  [[nodiscard]] std::string name(const wire_limits& limits);
  /// That nothing is left.
  void done() const;

 private:
  std::span<const std::byte> left_;
};

/// The prologue, which `contents_of` gives; `in` stands behind it afterwards.
[[nodiscard]] wire_contents read_contents(wire_reader& in, std::size_t header_bytes, const wire_limits& limits);

/// A header behind its prologue, and the pieces that belong to it, one after another.
class wire_parts {
 public:
  /// Throws `error` if it is no `wanted`, or the pieces are not those of the header.
  wire_parts(const wire_form& received, wire_kind wanted, const wire_limits& limits);

  [[nodiscard]] wire_reader& header() { return header_; }
  [[nodiscard]] buffer piece();
  /// What `nest` wrote. It borrows the header.
  [[nodiscard]] wire_form nested(const wire_limits& limits);
  /// That nothing is left.
  void done() const;

 private:
  wire_reader header_;
  std::span<const buffer> pieces_;
};

}  // namespace twinkle::data
