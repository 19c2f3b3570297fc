// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "twinkle/flow/graph.hpp"

namespace twinkle {

namespace sim {
class story;
}

/// The program of a pipeline: `int main(int argc, char** argv) { return twinkle::main(argc, argv, grpo); }`
///
/// Verbs: run (default); plan, which checks and draws the graph and starts nothing; simulate, which runs it in virtual
/// time. Flags: --seed and the options that the graph declares; for run --out, --save-every, --resume, --stop-patience; for
/// simulate --seeds, --faults, --nodes, --until. The graph is named for the function's program. Returns 0, 1 after a fault,
/// for a graph that cannot run or a simulation that was wrong, 2 for bad usage, 130 if it was interrupted.
int main(int argc, char** argv, const std::function<void(graph&)>& build);

/// The same; `simulated` says what bodies cost in a simulation, what stands in for them, and what else is told of it.
int main(int argc, char** argv, const std::function<void(graph&)>& build, const sim::story& simulated);

}  // namespace twinkle
