// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "node_starts.hpp"

namespace twinkle::command {

/// Starts each command, in a process group of its own, and waits until all have ended; what they print is printed
/// line by line behind their node's name. Returns the code of the first that failed (128 + signal, where it was
/// killed), or 0; throws `error` where a program cannot be run.
///
/// SIGINT, SIGTERM, SIGQUIT and SIGHUP (unless it is ignored) are handed on, each time they come. When one fails, the
/// others get a SIGTERM, unless they were told to stop before. Those that are left `patience_s` seconds after a failure,
/// or a second signal, are killed, and what nobody has read of their output by then is lost. What a process leaves in its
/// group ends with it, and the process with this one, whatever ends that. To be called once, from the only thread.
[[nodiscard]] int run_nodes(const std::vector<node_start>& starts, std::uint32_t patience_s);

}  // namespace twinkle::command
