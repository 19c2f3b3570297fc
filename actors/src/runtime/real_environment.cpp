// SPDX-License-Identifier: Apache-2.0
#include "real_environment.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>

namespace twinkle::runtime {

std::optional<std::string> environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::uint64_t number_of_this_process() {
  std::random_device entropy;
  const std::uint64_t high = entropy();
  return std::max<std::uint64_t>(1, high << 32 | entropy());
}

}  // namespace twinkle::runtime
