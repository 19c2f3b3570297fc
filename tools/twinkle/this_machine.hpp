// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace twinkle::command {

/// Whether an address is of the loopback interface; it is given as its bytes, 4 or 16.
[[nodiscard]] bool is_loopback(const std::string& address);

/// The machine that this process is on, as others name it.
class this_machine {
 public:
  this_machine();

  [[nodiscard]] const std::string& name() const { return name_; }

  /// Whether `host` is its name, or a name or text of one of its addresses. This may ask a name server.
  [[nodiscard]] bool is(const std::string& host) const;

 private:
  std::string name_;
  std::vector<std::string> addresses_;
};

}  // namespace twinkle::command
