// SPDX-License-Identifier: Apache-2.0
// An endpoint for calls with an argument that cannot cross to another node.
// expect: twinkle: what calls name must be T\(context&, Args...\) of the worker
// expect: concept twinkle::callable_endpoint
#include "workers.hpp"

struct plain_pointer {
  int look(tk::context&, const int* at) { return *at; }
};

void build(tk::graph& g) {
  auto looker = g.spawn<plain_pointer>("looker", {host});
  (void)looker.endpoint(&plain_pointer::look);
}
