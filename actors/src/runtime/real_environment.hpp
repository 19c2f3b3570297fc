// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace twinkle::runtime {

/// A variable of the process's environment; nothing where it is not set.
[[nodiscard]] std::optional<std::string> environment(const std::string& name);

/// A number that no other process has, and never 0.
[[nodiscard]] std::uint64_t number_of_this_process();

}  // namespace twinkle::runtime
