// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <cstddef>
#include <string>

#include "descriptor.hpp"

namespace twinkle::command {

/// Where this process prints, and what waits there for whoever reads it. Nobody waits with it, but for what is neither a
/// pipe nor a terminal.
class output {
 public:
  /// A descriptor that others may have as well: what it is like stays as it is.
  explicit output(int shared);

  void put(const std::string& text);
  /// Writes what there is room for; whether that was any.
  bool write_some();
  /// What waits is not printed.
  void drop() { done_ = waits_.size(); }

  /// For poll, which is asked nothing where nothing waits.
  [[nodiscard]] pollfd wanted() const { return {is_empty() ? -1 : to_, POLLOUT, 0}; }
  [[nodiscard]] bool is_full() const { return size() > (std::size_t{1} << 20); }
  [[nodiscard]] bool is_empty() const { return size() == 0; }
  /// It cannot be written to any more.
  [[nodiscard]] bool is_lost() const { return lost_; }

 private:
  [[nodiscard]] std::size_t size() const { return waits_.size() - done_; }

  descriptor own_;
  int to_;
  std::string waits_;
  std::size_t done_ = 0;  // of it
  bool lost_ = false;
};

}  // namespace twinkle::command
