// SPDX-License-Identifier: Apache-2.0
#include "twinkle/base/fault.hpp"

namespace twinkle {

std::string to_string(const fault& what) {
  std::string text = what.place;
  if (!what.endpoint.empty())
    text += " in " + what.endpoint;
  if (what.rows)
    text += ", rows " + to_string(*what.rows);
  return text + ": " + what.cause;
}

}  // namespace twinkle
