// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace twinkle::runtime {

/// A variable of the process's environment; nothing where it is not set.
[[nodiscard]] std::optional<std::string> environment(const std::string& name);

}  // namespace twinkle::runtime
