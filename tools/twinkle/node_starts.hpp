// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "twinkle/place/cluster.hpp"

namespace twinkle::command {

/// What starts a node of a cluster file.
struct node_start {
  std::string node = {};
  std::string host = {};
  bool here = false;
  std::vector<std::string> words = {};  ///< of the command
};

/// `command --cluster path --node NAME` for each node, in order.
[[nodiscard]] std::vector<node_start> node_starts(const place::cluster& machines, const std::string& path,
                                                  const std::vector<std::string>& command,
                                                  const std::function<bool(const std::string& host)>& is_here);

/// The commands as a shell takes them, by host: those of this machine first, or left out.
[[nodiscard]] std::string draw(const std::vector<node_start>& starts, bool with_here);

}  // namespace twinkle::command
