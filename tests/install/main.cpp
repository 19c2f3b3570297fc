// SPDX-License-Identifier: Apache-2.0
#include "squares.hpp"

#include <cstdio>
#include <twinkle/runtime/session.hpp>

int main() {
  twinkle::run_listener nobody;
  const twinkle::run_report report = twinkle::run(squares(), {}, nobody);
  std::printf("%zu steps, %zu rows\n", report.steps, report.trained);
  return report.good() ? 0 : 1;
}
