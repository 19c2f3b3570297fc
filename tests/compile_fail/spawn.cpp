// SPDX-License-Identifier: Apache-2.0
// A worker that cannot be built from what spawn is given.
// expect: twinkle: the worker cannot be built from the arguments of spawn, with or without context& first
#include "workers.hpp"

void build(tk::graph& g) { (void)g.spawn<origin>("source", {host}, "four"); }
