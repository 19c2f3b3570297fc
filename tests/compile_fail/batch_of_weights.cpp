// SPDX-License-Identifier: Apache-2.0
// A stream of rows into an endpoint that takes weights.
// expect: concept twinkle::batch_endpoint
#include "workers.hpp"

void build(tk::graph& g) {
  auto source = g.spawn<origin>("source", {host}, std::size_t{4});
  auto trainer = g.spawn<model>("model", {host});
  (void)source.emits(&origin::next).to(trainer, &model::load);
}
