// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <utility>

namespace twinkle::command {

/// A file descriptor, closed with it; -1 for none.
class descriptor {
 public:
  explicit descriptor(int number = -1) : number_(number) {}
  descriptor(descriptor&& from) noexcept : number_(std::exchange(from.number_, -1)) {}
  descriptor& operator=(descriptor&& from) noexcept {
    std::swap(number_, from.number_);
    return *this;
  }
  ~descriptor() { close(); }

  void close() {
    if (number_ >= 0)
      ::close(std::exchange(number_, -1));
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

}  // namespace twinkle::command
