// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/value_wire.hpp"

#include <cstring>
#include <span>
#include <string>

#include "data/wire_bytes.hpp"

namespace twinkle {

using data::refuse_wire;

namespace {

constexpr std::size_t depth_max = 256;

void check_depth(std::size_t depth) {
  if (depth > depth_max)
    refuse_wire("a value lies " + std::to_string(depth) + " described types or tuples deep; " +
                std::to_string(depth_max) + " are the most");
}

}  // namespace

void value_writer::flag(bool set) { out_.number(static_cast<std::uint8_t>(set)); }
void value_writer::numbers(const void* first, std::size_t bytes) {
  out_.bytes({static_cast<const std::byte*>(first), bytes});
}
void value_writer::count(std::size_t things) { out_.count(things); }
void value_writer::whole(const std::string& text) { out_.raw(text); }
void value_writer::whole(const batch& rows) { data::nest(out_, pieces_, to_wire(rows)); }
void value_writer::whole(const metrics& values) { data::nest(out_, pieces_, to_wire(values)); }
void value_writer::whole(const weights& tensors) { data::nest(out_, pieces_, to_wire(tensors)); }

std::size_t value_writer::open() {
  check_depth(++depth_);
  return std::exchange(members_, 0);
}

// Behind its members, how many they were: no value is of no bytes, and one of another type is noticed.
void value_writer::close(std::size_t outer) {
  out_.number(static_cast<std::uint8_t>(members_));
  members_ = outer;
  --depth_;
}

bool value_reader::flag() { return from_.header().flag(); }

void value_reader::numbers(void* first, std::size_t bytes) {
  const std::span<const std::byte> those = from_.header().take(bytes);
  if (bytes > 0)
    std::memcpy(first, those.data(), bytes);
}

std::size_t value_reader::count(std::size_t bytes_least, std::size_t bytes_each) {
  const std::size_t things = from_.header().count(bytes_least);
  if (things > bytes_left_ / bytes_each)
    refuse_wire("the values of a message take more than the " + std::to_string(limits_.value_bytes_max) +
                " bytes of memory that are given to them");
  bytes_left_ -= things * bytes_each;
  return things;
}

void value_reader::whole(std::string& text) { text = from_.header().raw(); }
void value_reader::whole(batch& rows) { rows = from_wire<batch>(from_.nested(limits_), limits_); }
void value_reader::whole(metrics& values) { values = from_wire<metrics>(from_.nested(limits_), limits_); }
void value_reader::whole(weights& tensors) { tensors = from_wire<weights>(from_.nested(limits_), limits_); }

void value_reader::refuse_order() { refuse_wire("the keys of a map do not ascend"); }

std::size_t value_reader::open() {
  check_depth(++depth_);
  return std::exchange(members_, 0);
}

void value_reader::close(std::size_t outer) {
  const auto sent = from_.header().number<std::uint8_t>();
  if (sent != static_cast<std::uint8_t>(members_))
    refuse_wire("a value of " + std::to_string(sent) + " members where one of " + std::to_string(members_) +
                " is read; run the same binary on every node");
  members_ = outer;
  --depth_;
}

}  // namespace twinkle
