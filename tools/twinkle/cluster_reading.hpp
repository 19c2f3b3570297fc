// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "twinkle/place/cluster_file.hpp"

namespace twinkle::command {

/// The cluster file at `path`. Throws `error` where it cannot be read, and `refused` with every mistake in it.
[[nodiscard]] place::cluster_file read_cluster(const std::string& path);

}  // namespace twinkle::command
