// SPDX-License-Identifier: Apache-2.0
#include "squares.hpp"

#include <caf/all.hpp>
#include <cstdio>
#include <twinkle/interop/caf.hpp>

int main() {
  caf::actor_system_config config;
  caf::actor_system system{config};
  twinkle::run_options options;
  options.system = &system;
  twinkle::run_listener nobody;
  twinkle::session run{squares(), options, nobody};
  const bool found = twinkle::interop::router(run, "summer") != nullptr;
  std::printf("%zu steps inside\n", run.wait().steps);
  return found && run.wait().good() ? 0 : 1;
}
