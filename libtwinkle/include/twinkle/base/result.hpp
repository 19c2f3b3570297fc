// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <variant>

#include "twinkle/base/ensure.hpp"
#include "twinkle/base/fault.hpp"

namespace twinkle {

/// A value, or the fault that stands in its place. An endpoint may return one wherever it may return a value.
template <class T>
class result {
 public:
  result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  result(fault what) : state_(std::in_place_index<1>, std::make_shared<const fault>(std::move(what))) {}

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  [[nodiscard]] const T& value() const& {
    ensure(has_value(), "value() of a result that holds a fault");
    return std::get<0>(state_);
  }
  [[nodiscard]] T& value() & {
    ensure(has_value(), "value() of a result that holds a fault");
    return std::get<0>(state_);
  }
  [[nodiscard]] T&& value() && {
    ensure(has_value(), "value() of a result that holds a fault");
    return std::get<0>(std::move(state_));
  }
  [[nodiscard]] const fault& failure() const {
    ensure(!has_value(), "failure() of a result that holds a value");
    return *std::get<1>(state_);
  }

 private:
  std::variant<T, std::shared_ptr<const fault>> state_;  // results travel by the thousand, faults do not
};

}  // namespace twinkle
