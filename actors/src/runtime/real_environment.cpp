// SPDX-License-Identifier: Apache-2.0
#include "real_environment.hpp"

#include <cstdlib>

namespace twinkle::runtime {

std::optional<std::string> environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace twinkle::runtime
