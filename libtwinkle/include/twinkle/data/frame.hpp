// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace twinkle {

/// What nodes say to each other on the bulk plane. Whoever connects asks: it sends hello, fetch, cancel and message, and
/// is answered with welcome, data and refused; both ping.
enum class frame_kind : std::uint8_t { hello = 1, welcome, fetch, data, refused, cancel, message, ping };

/// What stands before each frame, in little-endian order; the head and then the body follow.
///
///     0 magic   4 version   5 kind   6 flags   8 id   16 offset   24 bytes of head   28 bytes of body   32 checksum
///
///     hello, welcome   head: a greeting
///     fetch            id; head: ranges
///     data             id, offset of its first byte in the whole answer; body: bytes of the answer
///     refused          id, or 0 for the connection as a whole; head: why
///     cancel           id
///     message          head and body of the user's
///     ping             nothing
struct frame_header {
  static constexpr std::size_t bytes = 40;
  static constexpr std::uint8_t version = 1;

  frame_kind kind = frame_kind::ping;
  bool checked = false;  ///< `checksum` is that of head and body; else it is 0
  std::uint64_t id = 0;
  std::uint64_t offset = 0;
  std::size_t head_bytes = 0;
  std::size_t body_bytes = 0;
  std::uint64_t checksum = 0;

  friend bool operator==(const frame_header&, const frame_header&) = default;
};

/// What is taken from another process.
struct frame_limits {
  std::size_t greeting_bytes_max = 1024;
  std::size_t ranges_max = std::size_t{1} << 16;          ///< of one fetch
  std::size_t answer_bytes_max = std::size_t{1} << 40;    ///< of one fetch
  std::size_t data_bytes_max = std::size_t{1} << 20;      ///< of one frame
  std::size_t text_bytes_max = 4096;                      ///< of a refusal
  std::size_t head_bytes_max = std::size_t{1} << 20;      ///< of a message
  std::size_t body_bytes_max = std::size_t{1} << 30;      ///< of a message
};

/// Who speaks: both sides say it before anything else.
struct greeting {
  std::string cluster;
  std::uint64_t graph = 0;  ///< a digest: every node has to have built the same
  std::uint64_t node = 0;
  std::uint64_t incarnation = 0;  ///< which life of that node

  friend bool operator==(const greeting&, const greeting&) = default;
};

/// Bytes [first, first + bytes) of what is kept under a key.
struct bulk_range {
  std::uint64_t key = 0;
  std::uint64_t first = 0;
  std::uint64_t bytes = 0;

  friend bool operator==(const bulk_range&, const bulk_range&) = default;
};

[[nodiscard]] std::array<std::byte, frame_header::bytes> to_bytes(const frame_header& of);
[[nodiscard]] std::vector<std::byte> to_bytes(const greeting& of);
[[nodiscard]] std::vector<std::byte> to_bytes(std::span<const bulk_range> ranges);

/// Whether the bytes begin as a frame does, of whatever version.
[[nodiscard]] bool is_frame(std::span<const std::byte> bytes);

/// What `bytes`, which must be those of one header, say; so that a receiver knows what to allocate. Throws `error` for
/// what is no header, is of another version, has lengths that its kind cannot have, or is beyond the limits.
[[nodiscard]] frame_header frame_header_of(std::span<const std::byte> bytes, const frame_limits& limits = {});

/// The heads again. Throw `error` saying what does not fit.
[[nodiscard]] greeting greeting_of(std::span<const std::byte> head, const frame_limits& limits = {});
[[nodiscard]] std::vector<bulk_range> ranges_of(std::span<const std::byte> head, const frame_limits& limits = {});

/// Why `they` are not those who are `expected`, with both values; nullopt if they are.
[[nodiscard]] std::optional<std::string> mismatch(const greeting& expected, const greeting& they);

/// Of a frame's head and body; finds damage, not malice.
[[nodiscard]] std::uint64_t frame_checksum(std::span<const std::byte> head, std::span<const std::byte> body);

/// "fetch", "data" and so on.
[[nodiscard]] std::string_view to_string(frame_kind kind);

}  // namespace twinkle
