// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "twinkle/flow/graph.hpp"

namespace twinkle {

/// The program of a pipeline: `int main(int argc, char** argv) { return twinkle::main(argc, argv, grpo); }`
///
/// Verbs: run (default) and plan, which checks and draws the graph and starts nothing. Flags: --seed, --out,
/// --save-every, --resume, --stop-patience, and the options that the graph declares. The graph is named for the
/// function's program. Returns 0, 1 after a fault or for a
/// graph that cannot run, 2 for bad usage, 130 if it was interrupted.
int main(int argc, char** argv, const std::function<void(graph&)>& build);

}  // namespace twinkle
