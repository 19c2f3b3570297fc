// SPDX-License-Identifier: Apache-2.0
// A member function of another worker.
// expect: concept twinkle::source_endpoint
#include "workers.hpp"

void build(tk::graph& g) { (void)g.spawn<model>("model", {host}).emits(&origin::next); }
