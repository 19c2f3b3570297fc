// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <utility>

#include "twinkle/base/fault.hpp"

namespace twinkle {

/// Thrown by a blocking call of `context` that cannot go on: the run stops, or a peer of the same call failed. Let it
/// pass: a body that catches and ignores it is named and abandoned.
class stopped : public std::exception {
 public:
  explicit stopped(fault cause) : cause_(std::move(cause)), text_(to_string(cause_)) {}

  [[nodiscard]] const fault& cause() const { return cause_; }
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  fault cause_;
  std::string text_;
};

}  // namespace twinkle
