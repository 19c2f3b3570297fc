// SPDX-License-Identifier: Apache-2.0
#include "twinkle/base/ensure.hpp"

#include <cstdio>
#include <cstdlib>

namespace twinkle {

void broken_invariant(std::string_view what, const std::source_location& where) {
  std::fprintf(stderr, "twinkle: broken invariant: %.*s\n  at %s:%u in %s\n", static_cast<int>(what.size()), what.data(),
               where.file_name(), static_cast<unsigned>(where.line()), where.function_name());
  std::abort();
}

}  // namespace twinkle
