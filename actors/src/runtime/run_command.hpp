// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "twinkle/flow/graph.hpp"

namespace twinkle::runtime {

/// What the verbs run and plan of a pipeline's program are told.
struct run_flags {
  std::string out;
  std::string resume;
  std::size_t save_every = 10;
  double stop_patience_s = 10;
  std::string cluster;  ///< a file, or "env"; empty: this machine is the only one
  std::string node;
  double join_within_s = 30;
  double silence_s = 5;
  std::string authority;
  std::string certificate;
  std::string key;
  bool insecure = false;
};

/// Runs the graph and tells of it; as one of several nodes where there is a cluster. Returns the program's code. Throws
/// `error` where it cannot begin.
[[nodiscard]] int run_command(const graph& pipeline, const run_flags& given);

/// Draws the graph on its machines, and starts nothing.
[[nodiscard]] int plan_command(const graph& pipeline, const run_flags& given);

}  // namespace twinkle::runtime
