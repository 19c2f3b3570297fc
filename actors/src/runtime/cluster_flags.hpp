// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "run_command.hpp"
#include "twinkle/runtime/node.hpp"

namespace twinkle::runtime {

/// The machines that the flags name. Throws `error` with all problems of the cluster file, or of the environment.
[[nodiscard]] place::cluster machines_of(const graph& pipeline, const run_flags& given);

/// What is odd about them, and what was made of it.
[[nodiscard]] std::vector<std::string> remarks_of(const run_flags& given);

/// Which node this process is, and on what terms. Throws `error` likewise.
[[nodiscard]] node_options node_options_of(const graph& pipeline, const run_flags& given);

}  // namespace twinkle::runtime
