// SPDX-License-Identifier: Apache-2.0
// A source that cannot say that it has ended.
// expect: twinkle: what a stage emits with must be std::optional<batch>\(context&\) of the worker
// expect: concept twinkle::source_endpoint
#include "workers.hpp"

void build(tk::graph& g) { (void)g.spawn<origin>("source", {host}, std::size_t{4}).emits(&origin::endless); }
